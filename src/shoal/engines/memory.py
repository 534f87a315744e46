"""The engine for tables that fit into memory: one array of codes for each column."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows, Profiles
from shoal.kernels.grouping import Groups, group, group_rows
from shoal.kernels.translation import Codes


class MemoryEngine:
    """Codes in numpy arrays; ``sizes[name]`` is the number of different codes a column may hold."""

    def __init__(self, codes: Mapping[str, Codes], sizes: Mapping[str, int], rows: int) -> None:
        self._codes = dict(codes)
        self._sizes = dict(sizes)
        self._rows = rows
        for held in self._codes.values():
            held.flags.writeable = False

    @property
    def rows(self) -> int:
        """How many records there are."""
        return self._rows

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns, so many records at a time, in input order."""
        for start in range(0, self._rows, size):
            yield tuple(self._codes[name][start : start + size] for name in columns)

    def distinct(self, columns: Sequence[str]) -> DistinctRows:
        """Return the different rows under these columns."""
        codes = [self._codes[name] for name in columns]
        groups = group_rows(codes, [self._sizes[name] for name in columns], self._rows)
        shown = tuple(column[groups.first] for column in codes)
        return DistinctRows(tuple(columns), shown, groups.counts, groups.ids)

    def profiles(self, columns: Sequence[str], subject: str) -> Profiles:
        """Return the persons' profiles under these columns."""
        rows = self.distinct(columns)
        persons, place = self._codes[subject], rows.origin
        pairs = group_rows([persons, place], [self._sizes[subject], len(rows)], self._rows)
        starts = np.searchsorted(persons[pairs.first], np.arange(self._sizes[subject] + 1))
        held = place[pairs.first]
        same = _equal_sets(starts, held)
        return Profiles(rows, same.counts, *_sets_of(same.first, starts, held), same.ids[persons])

    def expand(self, small: DistinctRows | Profiles, values: NDArray[Any]) -> NDArray[Any]:
        """Turn one value per distinct row, or per profile, into one per record, in input order."""
        expanded: NDArray[Any] = values[small.origin]
        return expanded


def _equal_sets(starts: NDArray[np.int64], members: NDArray[np.uint32]) -> Groups:
    """Group sets that have the same members; set s is ``members[starts[s] : starts[s + 1]]``, ascending, not empty.

    Sets are grouped by a hash of their members, then compared with the first of their group, member by member. Should
    two different sets share a hash, another hash is tried: the answer is exact.
    """
    lengths = np.diff(starts)
    for salt in count(1):
        groups = group(_signatures(starts, members, salt))
        twin = groups.first[groups.ids]
        if (lengths == lengths[twin]).all() and (members == members[_ranges(starts[twin], lengths)]).all():
            return groups
    raise AssertionError  # pragma: no cover - count() never ends


def _signatures(starts: NDArray[np.int64], members: NDArray[np.uint32], salt: int) -> NDArray[np.uint64]:
    """Return a number for each set that depends on its members and on a salt."""
    mixed = (members.astype(np.uint64) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return np.add.reduceat(mixed, starts[:-1]) if len(starts) > 1 else mixed


def _ranges(begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return begin, begin + 1, … for each range, laid end to end."""
    shifts: NDArray[np.int64] = np.repeat(begins - np.cumsum(lengths) + lengths, lengths)
    return np.arange(len(shifts)) + shifts


def _sets_of(
    chosen: NDArray[np.int64], starts: NDArray[np.int64], members: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the chosen sets laid end to end: where each starts, and their members."""
    lengths = starts[chosen + 1] - starts[chosen]
    return np.concatenate([[0], np.cumsum(lengths)]), members[_ranges(starts[chosen], lengths)]
