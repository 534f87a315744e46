"""Sliced tables: what the tables of a release by groups of columns tell about individuals, one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.bucketed import BucketedValues, Indices, ValueModel, deduced, same_codes
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.covering import Covering
from shoal.kernels.grouping import group_rows
from shoal.kernels.ranges import expanded
from shoal.kernels.slices import Slices, SubTuples
from shoal.recoding.cells import Cells, united
from shoal.recoding.nodes import Floats
from shoal.table.column import Column
from shoal.table.scale import binned
from shoal.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """One table of a release. ``buckets``: the bucket of each record, in the numbers of all tables."""

    table: Table
    known: tuple[str, ...]
    buckets: Indices

    def tuples(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the sub-tuple of known values of each record, and the first record of each sub-tuple."""
        codes = [self.table.codes(name) for name in self.known]
        groups = group_rows(codes, [self.table[name].size for name in self.known], self.table.records)
        return groups.ids, groups.first

    def matching(
        self, original: Table, records: Indices, hierarchies: Mapping[str, Hierarchy], first: Indices
    ) -> tuple[Indices, Indices]:
        """Return pairs of an individual and a sub-tuple that may be theirs, given by the record of the original."""
        if not self.known:
            return np.arange(len(records)), np.zeros(len(records), np.int64)
        sets, people = [], []
        for name in self.known:
            together = united(name, original, [], [self.table])
            cells = Cells.of(together, original, self.table, name, hierarchies)
            sets.append(cells.sets(self.table.codes(name)[first]))
            people.append(together.places[0][original.codes(name)[records]])
        ends, rows = Covering(tuple(sets), np.ones(len(first), np.int64)).rows(people)
        return np.repeat(np.arange(len(records)), np.diff(ends, prepend=0)), rows.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class SlicedTables:
    """The tables of a release by groups of columns, the one with the sensitive ``column`` last.

    ``values``: the sensitive value of each record of the last table, as a code of the ``column`` of the original.
    """

    column: Column
    slices: tuple[Slice, ...]
    values: Indices

    @classmethod
    def of(cls, tables: Sequence[Table], link: str, original: Table, name: str) -> "SlicedTables":
        """Read the tables of a release, whose common column ``link`` holds the number of the bucket.

        >>> import shoal
        >>> original = shoal.read({"age": [30, 40], "dx": ["flu", "ms"]}).assign(quasi="age", sensitive="dx")
        >>> first, second = shoal.read({"age": [30, 40], "bucket": [7, 7]}), shoal.read({"bucket": [7], "dx": ["flu"]})
        >>> sliced = SlicedTables.of([first, second], "bucket", original, "dx")
        >>> [part.known for part in sliced.slices], sliced.values.tolist()
        ([('age',), ()], [0])
        """
        last = next(table for table in tables if name in table)
        ordered = [*(table for table in tables if table is not last), last]
        slices = tuple(
            Slice(
                table,
                tuple(column for column in original.quasi if column in table),
                same_codes(table[link], ordered[0][link])[table.codes(link)],
            )
            for table in ordered
        )
        return cls(original[name], slices, same_codes(last[name], original[name])[last.codes(name)])

    def shown(
        self, original: Table, records: Indices, hierarchies: Mapping[str, Hierarchy]
    ) -> tuple["Variants", Indices, Indices, Floats]:
        """Return what the matching buckets tell about individuals, given by their records of the original.

        These are variants of individuals, one for each combination of sub-tuples that may be theirs; and for each
        variant and value its share: Σ_B f(t, B) · D(t, B)[s], in ascending order of variants.
        """
        read = [part.tuples() for part in self.slices]
        pairs = [
            part.matching(original, records, hierarchies, first)
            for part, (_, first) in zip(self.slices, read, strict=True)
        ]
        variants = Variants.of(pairs, [first for _, first in read], len(records))
        rows = [
            SubTuples(ids, len(first), part.buckets.astype(np.uint32), np.ones(len(ids), np.int64))
            for part, (ids, first) in zip(self.slices, read, strict=True)
        ]
        slices = Slices.of(rows, self.values.astype(np.uint32), self.column.size)
        matches = slices.matches([codes.astype(np.uint32) for codes in variants.tuples])
        share, _ = slices.shares(matches)
        cells = matches.cells[:, -1]
        pair, place = expanded(slices.firsts[cells], slices.firsts[cells + 1] - slices.firsts[cells])
        weights = share[pair] * (slices.times[place] / slices.sizes[matches.buckets[pair]])
        owners, values = matches.tuples[pair].astype(np.uint32), slices.values[place]
        groups = group_rows([owners, values], [len(variants.people), self.column.size], len(owners))
        sums = np.bincount(groups.ids, weights, len(groups))
        return variants, owners[groups.first].astype(np.intp), values[groups.first].astype(np.intp), np.asarray(sums)

    def bucketed(self, part: Slice) -> BucketedValues:
        """Return the values of the last table by bucket, beside the records of another one."""
        last = self.slices[-1].buckets.astype(np.uint32)
        groups = group_rows(
            [last, self.values.astype(np.uint32)], [int(last.max(initial=0)) + 1, self.column.size], len(last)
        )
        return BucketedValues(self.column, part.buckets, last[groups.first], self.values[groups.first], groups.counts)

    def learned(self, chosen: Indices, *, rng: np.random.Generator | None = None) -> "LearnedSlices":
        """Learn which values go with which known columns, in each table but the last, from the chosen buckets.

        ``rng``: assigns the records of these tables to random buckets first, so that there is nothing to learn.
        """
        models = []
        for part in self.slices[:-1]:
            of_record = part.buckets if rng is None else rng.permutation(part.buckets)
            bucketed = replace(self.bucketed(part), of_record=of_record)
            some = np.flatnonzero(np.isin(of_record, chosen))
            bins = [binned(part.table[name]) for name in part.known]
            codes = [groups[part.table.codes(name)[some]] for (groups, _), name in zip(bins, part.known, strict=True)]
            sizes = [number for _, number in bins]
            records, likely, belief = deduced(bucketed.some(some), codes, sizes)
            beside = [column[records].astype(np.int64) for column in codes]
            models.append(ValueModel.of(beside, sizes, likely, belief, self.column.size))
        return LearnedSlices(self.slices[:-1], tuple(models))


@dataclass(frozen=True, slots=True, eq=False)
class Variants:
    """Combinations of sub-tuples, one of each table, that may be those of individuals.

    ``people[v]``: the individual of variant v. ``tuples[i][v]``: the sub-tuple of table i, whose first record in it is
    ``records[i][v]``.
    """

    people: Indices
    tuples: tuple[Indices, ...]
    records: tuple[Indices, ...]

    @classmethod
    def of(cls, pairs: Sequence[tuple[Indices, Indices]], first: Sequence[Indices], number: int) -> "Variants":
        """Combine the pairs of an individual and a sub-tuple of each table, which are in ascending order."""
        people, tuples = np.arange(number), list[Indices]()
        for owners, codes in pairs:
            sizes = np.bincount(owners, minlength=number)
            variant, place = expanded((np.cumsum(sizes) - sizes)[people], sizes[people])
            people, tuples = people[variant], [*(chosen[variant] for chosen in tuples), codes[place]]
        records = tuple(firsts[codes] for firsts, codes in zip(first, tuples, strict=True))
        return cls(people, tuple(tuples), records)


@dataclass(frozen=True, slots=True, eq=False)
class LearnedSlices:
    """Models of the values, learned from the tables without them."""

    slices: tuple[Slice, ...]
    models: tuple[ValueModel, ...]

    def likelihood(self, variants: Variants, owners: Indices, values: Indices) -> Floats:
        """Return the logarithm of the probability of the known values of variants, for each value given."""
        total = np.zeros(len(owners))
        for part, model, records in zip(self.slices, self.models, variants.records, strict=False):
            for name, table in zip(part.known, model.tables, strict=True):
                groups, _ = binned(part.table[name])
                codes = groups[part.table.codes(name)[records]]
                total += np.log(table)[codes[owners], values]
        return total
