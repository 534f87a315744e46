"""The engine for tables that fit into memory: one array of codes for each column."""

from collections.abc import Mapping, Sequence
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

    @property
    def rows(self) -> int:
        """How many records there are."""
        return self._rows

    def codes(self, column: str) -> Codes:
        """Return the code of each record, in input order."""
        return self._codes[column]

    def distinct(self, columns: Sequence[str]) -> DistinctRows:
        """Return the different rows under these columns."""
        codes = [self._codes[name] for name in columns]
        groups = group_rows(codes, [self._sizes[name] for name in columns], self._rows)
        return DistinctRows(tuple(columns), tuple(column[groups.first] for column in codes), groups.counts, groups.ids)

    def profiles(self, columns: Sequence[str], subject: str) -> Profiles:
        """Return the persons' profiles under these columns."""
        rows = self.distinct(columns)
        pairs = group_rows([self._codes[subject], rows.ids], [self._sizes[subject], len(rows)], self._rows)
        person, row = self._codes[subject][pairs.first], rows.ids[pairs.first]
        starts = np.searchsorted(person, np.arange(self._sizes[subject] + 1))
        same = _equal_sets(starts, row, len(rows))
        return Profiles(rows, same.counts, *_sets_of(same.first, starts, row), same.ids)

    def expand(self, rows: DistinctRows, values: NDArray[Any]) -> NDArray[Any]:
        """Turn one value per distinct row into one per record, in input order."""
        return values[rows.ids]


def _equal_sets(starts: NDArray[np.int64], members: NDArray[np.uint32], kinds: int) -> Groups:
    """Group sets that have the same members; set s is ``members[starts[s] : starts[s + 1]]``, ascending.

    Sets are compared member by member: those that agree so far share an id, and each round looks at one more
    member of the sets that have one. The work is one step per member; nothing is hashed away.
    """
    lengths = np.diff(starts)
    ids = group(lengths.astype(np.uint64), int(lengths.max(initial=0)) + 1)
    for place in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > place)
        refined = group_rows([ids.ids[longer], members[starts[longer] + place]], [len(ids), kinds], len(longer))
        ids = _with_refined(ids, longer, refined)
    return ids


def _with_refined(ids: Groups, longer: NDArray[np.int64], refined: Groups) -> Groups:
    """Put the finer ids of some sets behind the ids of the others, and close the gaps."""
    merged = ids.ids.astype(np.uint64)
    merged[longer] = refined.ids + np.uint64(len(ids))
    return group(merged, len(ids) + len(refined))


def _sets_of(
    chosen: NDArray[np.int64], starts: NDArray[np.int64], members: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the chosen sets laid end to end: where each starts, and their members."""
    lengths = starts[chosen + 1] - starts[chosen]
    begins = np.concatenate([[0], np.cumsum(lengths)])
    within = np.arange(begins[-1]) - np.repeat(begins[:-1], lengths)
    return begins, members[np.repeat(starts[chosen], lengths) + within]
