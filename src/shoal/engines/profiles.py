"""Profiles: persons with the same set of distinct rows are merged."""

from itertools import count

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows, Profiles
from shoal.kernels.grouping import Groups, group, group_rows

Ids = NDArray[np.uint32]


def profiles_of(rows: DistinctRows, persons: NDArray[np.integer], shown: Ids, number: int) -> tuple[Profiles, Ids]:
    """Merge ``number`` persons into profiles: person ``persons[i]`` has row ``shown[i]``.

    Returns the profiles, and the profile of each person.
    """
    pairs = group_rows([persons.astype(np.uint32), shown], [number, len(rows)], len(shown))
    starts = np.searchsorted(persons[pairs.first], np.arange(number + 1))
    own = shown[pairs.first]
    same = _equal_sets(starts, own)
    return Profiles(rows, same.counts, *_sets_of(same.first, starts, own)), same.ids


def _equal_sets(starts: NDArray[np.int64], members: Ids) -> Groups:
    """Group sets with the same members; set s is ``members[starts[s] : starts[s + 1]]``, ascending, not empty.

    Sets are grouped by a hash of their members, then compared member by member with the first set of their group. If
    two different sets share a hash, another hash is tried, so the result is exact.
    """
    lengths = np.diff(starts)
    if not lengths.all():
        raise ValueError("a person of the subject column has no record")
    for salt in count(1):
        groups = group(_signatures(starts, members, salt))
        twin = groups.first[groups.ids]
        if (lengths == lengths[twin]).all() and (members == members[_ranges(starts[twin], lengths)]).all():
            return groups
    raise AssertionError  # pragma: no cover - count() never ends


def _signatures(starts: NDArray[np.int64], members: Ids, salt: int) -> NDArray[np.uint64]:
    """Return a hash of the members of each set. ``salt``: selects the hash function."""
    mixed = (members.astype(np.uint64) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return np.add.reduceat(mixed, starts[:-1]) if len(starts) > 1 else mixed


def _ranges(begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return begin, begin + 1, … for each range, concatenated."""
    shifts: NDArray[np.int64] = np.repeat(begins - np.cumsum(lengths) + lengths, lengths)
    return np.arange(len(shifts)) + shifts


def _sets_of(chosen: NDArray[np.int64], starts: NDArray[np.int64], members: Ids) -> tuple[NDArray[np.int64], Ids]:
    """Return the chosen sets, concatenated: the start of each, and their members."""
    lengths = starts[chosen + 1] - starts[chosen]
    return np.concatenate([[0], np.cumsum(lengths)]), members[_ranges(starts[chosen], lengths)]
