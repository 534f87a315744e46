"""Bucketed values: the sensitive values of buckets of records, and what they tell about single records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import AttackError
from shoal.kernels.grouping import group_rows
from shoal.kernels.ranges import expanded
from shoal.recoding.nodes import Floats
from shoal.table.column import Column
from shoal.table.table import Table

Indices: TypeAlias = NDArray[np.integer[Any]]
_ROUNDS = 10  # of expectation and maximisation: more fit the chance in the buckets
_BALANCES = 3  # of rows and columns in each round
_TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class BucketedValues:
    """A sensitive column that is released by bucket.

    ``of_record[r]``: the bucket of released record r. ``buckets``, ``values``, ``counts``: the number of times that a
    bucket holds a value, by the codes of the ``column`` of the original, in ascending order of the buckets.
    """

    column: Column
    of_record: Indices
    buckets: Indices
    values: Indices
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, first: Table, second: Table, link: str, original: Column) -> "BucketedValues":
        """Read both tables of a release, whose common column ``link`` holds the number of the bucket.

        >>> import shoal
        >>> original = shoal.read({"dx": ["flu", "ms", "flu"]})["dx"]
        >>> first = shoal.read({"age": [30, 40, 50], "bucket": [7, 7, 9]})
        >>> second = shoal.read({"bucket": [9, 7, 7], "dx": ["flu", "ms", "flu"]})
        >>> bucketed = BucketedValues.of(first, second, "bucket", original)
        >>> bucketed.of_record.tolist(), bucketed.buckets.tolist(), bucketed.values.tolist()
        ([0, 0, 1], [0, 0, 1], [0, 1, 0])
        """
        places = same_codes(second[link], first[link])
        codes = same_codes(second[original.name], original)
        held = group_rows(
            [places[second.codes(link)], codes[second.codes(original.name)]],
            [first[link].size, original.size],
            second.records,
        )
        buckets, values = places[second.codes(link)][held.first], codes[second.codes(original.name)][held.first]
        order = np.lexsort([values, buckets])
        return cls(original, first.codes(link), buckets[order], values[order], held.counts[order])

    def some(self, chosen: Indices) -> "BucketedValues":
        """Return the chosen records, with all values of their buckets."""
        return BucketedValues(self.column, self.of_record[chosen], self.buckets, self.values, self.counts)

    def pairs(self) -> tuple[Indices, Indices]:
        """Return pairs of a record and the place of a value of its bucket among ``values``; records are ascending."""
        number = int(max(self.of_record.max(initial=0), self.buckets.max(initial=0))) + 1
        sizes = np.bincount(self.buckets, minlength=number)
        return expanded((np.cumsum(sizes) - sizes)[self.of_record], sizes[self.of_record])


@dataclass(frozen=True, slots=True, eq=False)
class ValueModel:
    """A naive Bayes model. ``prior``: the share of each value. ``tables[j][code, value]``: that of a code beside it."""

    prior: Floats
    tables: tuple[Floats, ...]

    @classmethod
    def of(
        cls, features: Sequence[Indices], sizes: Sequence[int], values: Indices, weights: Floats, number: int
    ) -> "ValueModel":
        """Count weighted values beside the codes of each column; every code has one value in advance."""
        prior = np.bincount(values, weights, number) / max(weights.sum(), _TINY)
        tables = []
        for codes, size in zip(features, sizes, strict=True):
            beside = np.bincount(codes.astype(np.int64) * number + values, weights, size * number) + 1 / size
            counts = np.asarray(beside, np.float64).reshape(size, number)
            tables.append(counts / counts.sum(axis=0))
        return cls(prior, tuple(tables))

    @classmethod
    def crossed(cls, features: Sequence[Indices], sizes: Sequence[int], values: Indices, number: int) -> float:
        """Return the share of values that the model of the other half of the records guesses."""
        right, halves = 0, (slice(0, None, 2), slice(1, None, 2))
        for seen, unseen in (halves, halves[::-1]):
            model = cls.of([codes[seen] for codes in features], sizes, values[seen], np.ones(len(values[seen])), number)
            right += int(np.count_nonzero(model.guess([codes[unseen] for codes in features]) == values[unseen]))
        return right / max(len(values), 1)

    def guess(self, features: Sequence[Indices]) -> Indices:
        """Return the most likely value beside the codes of each record."""
        every = [np.full(len(features[0]), value) for value in range(len(self.prior))]
        return np.asarray(np.stack([self.likelihood(features, values) for values in every], axis=1).argmax(axis=1))

    def likelihood(self, features: Sequence[Indices], values: Indices) -> Floats:
        """Return the logarithm of the probability of each value together with the codes beside it."""
        logarithm = np.log(self.prior + _TINY)[values]
        for codes, table in zip(features, self.tables, strict=True):
            logarithm = logarithm + np.log(table)[codes, values]
        return np.asarray(logarithm)


def deduced(
    bucketed: BucketedValues, features: Sequence[Indices], sizes: Sequence[int]
) -> tuple[Indices, Indices, Floats]:
    """Return pairs of a record and a value of its bucket, with the probability that the value is that of the record.

    Expectation–maximisation: a naive Bayes model of the values is learned from the current beliefs, and the beliefs
    follow from the model and the number of times that each bucket holds each value (after the attack of Kifer 2009).
    ``features[j]``: the code of each record in a column with ``sizes[j]`` codes.
    """
    records, places = bucketed.pairs()
    values = bucketed.values[places]
    beside = [codes[records].astype(np.int64) for codes in features]
    starts = np.flatnonzero(np.diff(records, prepend=-1))
    size = np.bincount(bucketed.of_record, minlength=int(bucketed.buckets.max(initial=0)) + 1)
    share = bucketed.counts / np.bincount(bucketed.buckets, bucketed.counts)[bucketed.buckets]
    belief = share[places]
    for _ in range(_ROUNDS):
        model = ValueModel.of(beside, sizes, values, belief, bucketed.column.size)
        likelihood = model.likelihood(beside, values)
        highest = np.maximum.reduceat(likelihood, starts)
        belief = np.exp(likelihood - np.repeat(highest, np.diff(np.append(starts, len(records)))))
        belief = _balanced(belief, records, places, share * size[bucketed.buckets])
    return records, values, belief


def _balanced(belief: Floats, records: Indices, places: Indices, expected: Floats) -> Floats:
    """Scale beliefs so that each place has its expected number of records, and each record one value."""
    for _ in range(_BALANCES):
        belief = belief * (expected / (np.bincount(places, belief, len(expected)) + _TINY))[places]
        belief = belief / (np.bincount(records, belief) + _TINY)[records]
    return belief


def most_likely(records: Indices, values: Indices, belief: Floats, number: int) -> tuple[Indices, Floats]:
    """Return the most likely value of each record, and its probability; −1 for records without a pair."""
    order = np.lexsort([values, -belief, records])
    first = order[np.flatnonzero(np.diff(records[order], prepend=-1))]
    guess, probability = np.full(number, -1, np.int64), np.zeros(number)
    guess[records[first]], probability[records[first]] = values[first], belief[first]
    return guess, probability


def same_codes(column: Column, other: Column) -> NDArray[np.uint32]:
    """Return the code of another column with the same value, for each code of a column."""
    codes = pc.index_in(column.labels(), other.labels(), skip_nulls=True).fill_null(-1).to_numpy(zero_copy_only=False)
    same = np.full(column.size, -1, np.int64)
    same[: len(codes)] = codes
    if column.missing_code is not None:
        same[column.missing_code] = -1 if other.missing_code is None else other.missing_code
    if (same < 0).any():
        raise AttackError(
            "foreign-bucket-values",
            "Column '{column}' of the table of values has values that the other table lacks.",
            remedy="Give the tables of one release, and its original.",
            column=column.name,
        )
    return same.astype(np.uint32)
