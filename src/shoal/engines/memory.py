"""The engine for tables that fit into memory: one array of codes for each column."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from shoal.engines.profiles import profiles_of
from shoal.engines.protocol import DistinctRows, Profiles
from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes


class MemoryEngine:
    """Codes in numpy arrays; ``sizes[name]`` is the number of different codes a column may hold."""

    def __init__(self, codes: Mapping[str, Codes], sizes: Mapping[str, int], rows: int) -> None:
        self._codes = dict(codes)
        self._sizes = dict(sizes)
        self._rows = rows
        self._latest: DistinctRows | None = None  # who asks once often asks again
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
        latest = self._latest
        if latest is not None and latest.columns == tuple(columns):
            return latest
        codes = [self._codes[name] for name in columns]
        groups = group_rows(codes, [self._sizes[name] for name in columns], self._rows)
        shown = tuple(column[groups.first] for column in codes)
        groups.counts.flags.writeable = False
        self._latest = DistinctRows(tuple(columns), shown, groups.counts, groups.ids)
        return self._latest

    def profiles(self, columns: Sequence[str], subject: str) -> Profiles:
        """Return the persons' profiles under these columns."""
        rows = self.distinct(columns)
        persons = self._codes[subject]
        profiles, of_person = profiles_of(rows, persons, rows.origin, self._sizes[subject])
        return replace(profiles, origin=of_person[persons])

    def expand(self, small: DistinctRows | Profiles, values: NDArray[Any]) -> NDArray[Any]:
        """Turn one value per distinct row, or per profile, into one per record, in input order."""
        expanded: NDArray[Any] = values[small.origin]
        return expanded
