"""Bucket cells: the sensitive values of a bucket as the set of values that each of its records may have.

The tables of a release by buckets do not tell which value is whose. If all records of a bucket show the same, as in a
permutation within equivalence classes, it is irrelevant which of its values is whose. Otherwise, a record
may have any value of its bucket.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from shoal.attacks.bucketed import BucketedValues, Indices
from shoal.kernels.grouping import group_rows
from shoal.recoding.cells import Cells
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.raw import Encoded
from shoal.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class JoinedTable:
    """A release by buckets as one table. ``sets``: the columns whose cells are those of the buckets."""

    table: Table
    sets: Mapping[str, BucketedValues]

    @classmethod
    def of(cls, first: Table, bucketed: Sequence[BucketedValues], known: Sequence[str], link: str) -> "JoinedTable":
        """Join the first table with the columns of the others; ``known``: the columns that tell records apart."""
        columns, sets = (
            [Encoded(column, first.codes(column.name)) for column in first.columns if column.name != link],
            {},
        )
        for values in bucketed:
            assigned = _assigned(first, values, known)
            if assigned is None:
                sets[values.column.name] = values
                number = int(values.of_record.max(initial=0)) + 1
                labels = pa.array([f"bucket {bucket}" for bucket in range(number)])
                name, codes = values.column.name, values.of_record.astype(np.uint32)
                columns.append(Encoded(Column(name, Kind.CATEGORY, labels), codes))
            else:
                columns.append(Encoded(values.column, assigned.astype(np.uint32)))
        return cls(Table.of(columns, first.records, first.source), sets)

    def cells(self, cells: Mapping[str, Cells]) -> dict[str, Cells]:
        """Return the cells of all columns; in those that buckets show, a record may have each value of its bucket."""
        return {name: _cells(self.sets[name], read) if name in self.sets else read for name, read in cells.items()}


def _assigned(first: Table, values: BucketedValues, known: Sequence[str]) -> Indices | None:
    """Return a value of its bucket for each record; None if the records of a bucket differ in what is known."""
    codes = [first.codes(name) for name in known if name in first]
    sizes = [first[name].size for name in known if name in first]
    number = int(values.of_record.max(initial=0)) + 1
    rows = group_rows([values.of_record.astype(np.uint32), *codes], [number, *sizes], first.records)
    alike = len(rows) == len(np.unique(values.of_record))
    same = np.array_equal(
        np.bincount(values.of_record, minlength=number), np.bincount(values.buckets, values.counts, number)
    )
    if not alike or not same:
        return None
    assigned = np.empty_like(values.of_record)
    assigned[np.argsort(values.of_record, kind="stable")] = np.repeat(values.values, values.counts)
    return assigned


def _cells(values: BucketedValues, read: Cells) -> Cells:
    """Return the cells whose sets are the values of the buckets, in the united codes of cells that were read."""
    number, size = int(values.of_record.max(initial=0)) + 1, read.column.size
    starts = np.searchsorted(values.buckets, np.arange(number + 1))
    unknown = np.full(number, np.nan)
    return replace(
        read,
        nodes=np.arange(number, dtype=np.uint32),
        starts=np.append(starts, starts[-1] + size).astype(np.int64),
        members=np.concatenate([values.values, np.arange(size)]).astype(np.uint32),
        codes=values.of_record.astype(np.uint32),
        low=unknown,
        high=unknown,
        labels=True,
        anything=number,
        missing=None,
        unread=0,
    )
