"""Split release: the written tables of a release in several tables, and what an adversary may know of individuals."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows
from shoal.kernels.grouping import group_rows
from shoal.kernels.slices import Ids, Slices, SubTuples


@dataclass(frozen=True, slots=True, eq=False)
class SplitRelease:
    """The distinct rows of each table of a release, and the ``known`` ones: the quasi-identifiers of all individuals.

    ``quasi``, ``sensitive``: columns by role. ``link``: the column of the bucket numbers. ``sizes``: the number of
    codes of each column, which are the same in all tables.
    """

    tables: tuple[DistinctRows, ...]
    known: DistinctRows
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    link: str
    sizes: Mapping[str, int]

    def slices(self, column: str) -> tuple[Slices, tuple[Ids, ...]]:
        """Return the contents of the buckets with regard to a sensitive column, and the known tuples."""
        last = next(table for table in self.tables if column in table.columns)
        parts, tuples = [], []
        for table in (*(table for table in self.tables if table is not last), last):
            names = [name for name in self.quasi if name in table.columns]
            rows, known = self._alike(table, names)
            number = 1 + max(int(rows.max(initial=0)), int(known.max(initial=0)))
            buckets = table.codes[table.columns.index(self.link)].astype(np.uint32)
            parts.append(SubTuples(rows, number, buckets, table.counts))
            tuples.append(known)
        values = last.codes[last.columns.index(column)].astype(np.uint32)
        return Slices.of(parts, values, self.sizes[column]), tuple(tuples)

    def _alike(self, table: DistinctRows, names: list[str]) -> tuple[Ids, Ids]:
        """Return the sub-tuple of each row of a table and of each known row; equal ones have equal numbers."""
        codes = [np.concatenate([_codes(table, name), _codes(self.known, name)]) for name in names]
        ids = group_rows(codes, [self.sizes[name] for name in names], len(table) + len(self.known)).ids
        return ids[: len(table)], ids[len(table) :]


def _codes(rows: DistinctRows, name: str) -> NDArray[np.uint32]:
    return rows.codes[rows.columns.index(name)].astype(np.uint32)
