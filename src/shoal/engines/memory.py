"""The engine for tables that fit into memory: one array of codes for each column."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines.profiles import profiles_of
from shoal.engines.protocol import DistinctRows, Kept, Profiles, Rewriting, Rewritten, Tallied, each_once
from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes


class MemoryEngine:
    """Codes in numpy arrays. ``sizes[name]``: the number of distinct codes that a column may hold."""

    def __init__(self, codes: Mapping[str, Codes], sizes: Mapping[str, int], rows: int) -> None:
        self._codes = dict(codes)
        self._sizes = dict(sizes)
        self._rows = rows
        self._latest: DistinctRows | None = None  # cached: the same columns are often requested again
        for codes_of in self._codes.values():
            codes_of.flags.writeable = False

    @property
    def rows(self) -> int:
        """The number of records."""
        return self._rows

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns in chunks of at most ``size`` records, in input order."""
        for start in range(0, self._rows, size):
            yield tuple(self._codes[name][start : start + size] for name in columns)

    def tallied(self, columns: Sequence[str], size: int) -> Tallied:
        """Yield the codes of some columns in chunks, each record with a count of 1."""
        return each_once(self.chunks(columns, size))

    def distinct(self, columns: Sequence[str]) -> DistinctRows:
        """Return the distinct rows of some columns."""
        latest = self._latest
        if latest is not None and latest.columns == tuple(columns):
            return latest
        codes = [self._codes[name] for name in columns]
        groups = group_rows(codes, [self._sizes[name] for name in columns], self._rows)
        shown = tuple(column[groups.first] for column in codes)
        groups.counts.flags.writeable = False
        self._latest = DistinctRows(tuple(columns), shown, groups.counts, groups.ids)
        return self._latest

    def distinct_below(self, columns: tuple[str, ...], most: int) -> DistinctRows:
        """Return the distinct rows; the limit is ignored, because all records are in memory already."""
        del most
        return self.distinct(columns)

    def profiles(self, columns: Sequence[str], subject: str) -> Profiles:
        """Return the profiles of the persons in some columns."""
        rows = self.distinct(columns)
        persons = self._codes[subject]
        profiles, of_person = profiles_of(rows, persons, rows.origin, self._sizes[subject])
        return replace(profiles, origin=of_person[persons])

    def expand(self, small: DistinctRows | Profiles, values: NDArray[Any]) -> NDArray[Any]:
        """Expand one value per distinct row, or per profile, to one per record, in input order."""
        expanded: NDArray[Any] = values[small.origin]
        return expanded

    def translated(self, tables: Mapping[str, Codes], sizes: Mapping[str, int]) -> "MemoryEngine":
        """Return an engine of the same records with other codes in some columns."""
        codes = {name: tables[name][codes] if name in tables else codes for name, codes in self._codes.items()}
        return MemoryEngine(codes, {**self._sizes, **sizes}, self._rows)

    def kept(self, how: Rewriting) -> tuple[NDArray[np.intp], Kept]:
        """Return the records to rewrite: their numbers, and what rewriting needs of them."""
        records = np.flatnonzero(how.kept[how.rows.origin])
        codes = {name: self._codes[name][records] for name in how.needed}
        ordinals = None
        if how.numbers_records:
            ordinals = group_rows(list(codes.values()), [self._sizes[name] for name in codes], len(records)).ordinals
        return records, Kept(how.rows.origin[records], codes, ordinals)

    def rewritten(self, how: Rewriting) -> Rewritten:
        """Return the rewritten records, sorted."""
        records, kept = self.kept(how)
        columns = [
            np.concatenate([codes, how.added[name]]) if how.added else codes
            for name, codes in zip(how.names, how.applied(kept), strict=True)
        ]
        origins = np.concatenate([records, np.full(how.records - len(records), -1)])
        alike = group_rows(columns, [how.sizes[name] for name in how.names], len(origins))
        order = np.argsort(alike.ids, kind="stable")
        sorted_codes = {
            name: np.ascontiguousarray(codes[order]) for name, codes in zip(how.names, columns, strict=True)
        }
        origins = origins[order]
        return Rewritten(MemoryEngine(sorted_codes, how.sizes, len(origins)), lambda: origins)
