"""Engines whose rows are not in memory: rows arrive in chunks, and only distinct rows are held."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines.capacity import Watch
from shoal.engines.profiles import profiles_of
from shoal.engines.protocol import DistinctRows, Profiles, Tallied, each_once
from shoal.kernels.grouping import group_rows
from shoal.kernels.summing import summed
from shoal.kernels.tallying import RowPlaces, RowTally
from shoal.kernels.threads import ahead
from shoal.kernels.translation import Codes

CHUNK = 1 << 20


class OutsideEngine(ABC):
    """Base of engines that yield rows in chunks. A subclass that counts faster overrides the counting."""

    def __init__(self, sizes: Mapping[str, int], rows: int) -> None:
        self._sizes = dict(sizes)
        self._rows = rows
        self._latest: DistinctRows | None = None  # cached: the same columns are often requested again

    @property
    def domains(self) -> Mapping[str, int]:
        """The number of distinct codes that each column may hold."""
        return self._sizes

    @property
    def rows(self) -> int:
        """The number of records."""
        return self._rows

    @abstractmethod
    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns in chunks of at most ``size`` records, in input order."""

    def tallied(self, columns: Sequence[str], size: int) -> Tallied:
        """Yield the codes of some columns in chunks and in any order, with the count of each row."""
        return each_once(self.chunks(columns, size))

    def distinct(self, columns: Sequence[str]) -> DistinctRows:
        """Return the distinct rows of some columns."""
        return self.distinct_below(tuple(columns), 0)

    def distinct_below(self, columns: tuple[str, ...], most: int) -> DistinctRows:
        """Return the distinct rows of some columns.

        Raise CapacityError if there are more than ``most`` (0: more than fit into memory).
        """
        latest = self._latest
        if not columns:
            return DistinctRows((), (), np.array([self._rows] if self._rows else [], np.int64))
        if latest is not None and latest.columns == columns:
            return latest
        if latest is not None and {*columns} <= {*latest.columns}:  # already counted, with further columns
            return self.narrowed(latest, columns)
        latest = self._latest = None  # free its memory first
        self._latest = self._counted(columns, most)
        return self._latest

    def narrowed(self, rows: DistinctRows, columns: tuple[str, ...]) -> DistinctRows:
        """Return the distinct rows of some of the columns of given distinct rows."""
        codes = [rows.codes[rows.columns.index(name)] for name in columns]
        return merged(columns, codes, rows.counts, self.sizes(columns))

    def _counted(self, columns: tuple[str, ...], most: int = 0) -> DistinctRows:
        """Count rows chunk by chunk.

        Raise CapacityError if there are more than ``most`` distinct rows (0: more than fit into memory).
        """
        tally, watch = RowTally(self.sizes(columns)), Watch(self._rows, len(columns), most)
        for keys in ahead(map(tally.keys, self.chunks(columns, CHUNK))):
            tally.count(keys)
            watch.seen(len(keys), len(tally))
        return DistinctRows(columns, *tally.rows())

    def profiles(self, columns: Sequence[str], subject: str) -> Profiles:
        """Return the profiles of the persons in some columns."""
        rows, counted = self.distinct(columns), self._counted((*columns, subject))
        shown = self.places(rows).of(counted.codes[:-1]) if columns else np.zeros(len(counted), np.uint32)
        profiles, of_person = profiles_of(rows, counted.codes[-1], shown, self._sizes[subject])
        return replace(profiles, origin=(subject, of_person))

    def expand(self, small: DistinctRows | Profiles, values: NDArray[Any]) -> NDArray[Any]:
        """Expand one value per distinct row, or per profile, to one per record, in input order."""
        if isinstance(small, Profiles) and small.origin is not None:
            subject, of_person = small.origin
            parts = [values[of_person[persons]] for (persons,) in self.chunks([subject], CHUNK)]
        else:
            rows = small.rows if isinstance(small, Profiles) else small
            parts = [values[places] for places in self.placed(rows)]
        return np.concatenate(parts) if parts else values[:0]

    def placed(self, rows: DistinctRows) -> Iterator[NDArray[np.uint32]]:
        """Yield the index of the distinct row of each record, in chunks."""
        if not rows.columns:
            yield np.zeros(self._rows, np.uint32)
            return
        places = self.places(rows)
        for chunk in self.chunks(rows.columns, CHUNK):
            yield places.of(chunk)

    def places(self, rows: DistinctRows) -> RowPlaces:
        """Return the lookup from rows to the index of their distinct row."""
        places = RowPlaces(self.sizes(rows.columns))
        if rows.columns:
            places.of(rows.codes)
        return places

    def sizes(self, columns: Sequence[str]) -> list[int]:
        """Return the number of distinct codes that each column may hold, at least 1."""
        return [max(self._sizes[name], 1) for name in columns]


def merged(
    columns: tuple[str, ...], codes: Sequence[Codes], counts: NDArray[np.int64], sizes: Sequence[int]
) -> DistinctRows:
    """Sort rows that were counted elsewhere, and merge those with the same codes."""
    groups = group_rows(codes, sizes, len(counts))
    shown = tuple(column[groups.first] for column in codes)
    return DistinctRows(columns, shown, summed(groups.ids, counts, len(groups)))
