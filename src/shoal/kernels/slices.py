"""Slices: groups of columns whose relation is broken within buckets, and what they tell about a known tuple."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.grouping import group_rows
from shoal.kernels.library import address
from shoal.kernels.ranges import expanded

Ids: TypeAlias = NDArray[np.uint32]
_Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
_BLOCK = 1 << 19  # pairs of a tuple and a bucket that the numpy implementation holds at a time


class _Part(ctypes.Structure):
    _fields_ = (("starts", ctypes.c_void_p), ("buckets", ctypes.c_void_p), ("counts", ctypes.c_void_p))


@dataclass(frozen=True, slots=True, eq=False)
class SubTuples:
    """SubTuples of a table: the sub-tuple of each, below ``number``, its bucket, and the persons with this row."""

    tuples: Ids
    number: int
    buckets: Ids
    weights: _Ints


@dataclass(frozen=True, slots=True, eq=False)
class BucketCells:
    """A group of columns: bucket ``buckets[i]`` holds a sub-tuple ``counts[i]`` times.

    The cells of sub-tuple s are ``starts[s] : starts[s + 1]``, with ascending buckets.
    """

    starts: _Ints
    buckets: Ids
    counts: _Ints

    @classmethod
    def of(cls, rows: "SubTuples", sizes: int) -> tuple["BucketCells", Ids]:
        """Count the sub-tuples of rows by bucket, of which there are ``sizes``; also return the cell of each row."""
        cells = group_rows([rows.tuples, rows.buckets], [rows.number, sizes], len(rows.tuples))
        counts = np.bincount(cells.ids, rows.weights, len(cells)).astype(np.int64)
        starts = np.searchsorted(rows.tuples[cells.first], np.arange(rows.number + 1))
        buckets = np.ascontiguousarray(rows.buckets[cells.first], np.uint32)
        return cls(starts.astype(np.int64), buckets, counts), cells.ids

    def lengths(self, tuples: Ids) -> _Ints:
        """Return the number of buckets that hold each of some sub-tuples."""
        return self.starts[tuples.astype(np.int64) + 1] - self.starts[tuples]

    def cells(self, tuples: Ids, buckets: Ids, number: int) -> NDArray[np.int64]:
        """Return the cell of each pair of a sub-tuple and one of ``number`` buckets; −1 if there is none."""
        owners = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        keys, sought = owners * number + self.buckets, tuples.astype(np.int64) * number + buckets
        places = np.minimum(np.searchsorted(keys, sought), max(len(keys) - 1, 0))
        return np.where(keys[places] == sought, places, -1)


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """Pairs of a tuple and a bucket that holds all its sub-tuples: ``cells[i, p]`` is the cell of part p."""

    tuples: NDArray[np.intp]
    buckets: Ids
    cells: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """What buckets tell about each tuple.

    ``total``: the sum of its shares of the buckets. ``largest``: the largest such sum with one ``value`` beside it, so
    that ``largest / total`` is the probability of that value. ``uneven``: whether a matching bucket alone says more
    than 1/l.
    """

    total: Floats
    largest: Floats
    value: Ids
    uneven: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Slices:
    """The contents of buckets whose records are divided into groups of columns (Li et al. 2012).

    ``sizes[b]``: the number of persons in bucket b. ``parts``: the sub-tuples of each group; the last one is beside the
    sensitive value. The values beside cell c of the last part are ``values[firsts[c] : firsts[c + 1]]``, in as many
    records as ``times``. ``width``: the number of values.
    """

    sizes: _Ints
    parts: tuple[BucketCells, ...]
    firsts: _Ints
    values: Ids
    times: _Ints
    width: int

    @classmethod
    def of(cls, parts: Sequence[SubTuples], values: Ids, width: int) -> "Slices":
        """Count rows by bucket: those of each group of columns, and the sensitive value of each row of the last one.

        >>> ages, values = np.array([0, 0, 1, 1], np.uint32), np.array([0, 1, 0, 1], np.uint32)
        >>> alone, ones = np.zeros(4, np.uint32), np.ones(4, int)
        >>> slices = Slices.of([SubTuples(ages, 2, alone, ones), SubTuples(alone, 1, alone, ones)], values, 2)
        >>> beliefs = slices.beliefs([np.array([0, 1], np.uint32), np.zeros(2, np.uint32)], 2)
        >>> (beliefs.largest / beliefs.total).tolist(), beliefs.uneven.tolist()
        ([0.5, 0.5], [False, False])
        """
        number, last = 1 + max(int(rows.buckets.max(initial=0)) for rows in parts), parts[-1]
        counted = [BucketCells.of(rows, number) for rows in parts]
        beside, of_row = counted[-1]
        cells = group_rows([of_row, values], [len(beside.counts), width], len(of_row))
        times = np.bincount(cells.ids, last.weights, len(cells)).astype(np.int64)
        firsts = np.searchsorted(of_row[cells.first], np.arange(len(beside.counts) + 1)).astype(np.int64)
        sizes = np.bincount(last.buckets, last.weights, number).astype(np.int64)
        codes = values[cells.first].astype(np.uint32)
        return cls(sizes, tuple(part for part, _ in counted), firsts, codes, times, width)

    def uneven(self, size: int) -> NDArray[np.bool_]:
        """Return which cells of the last part have a value in more than 1/``size`` of their records."""
        if not len(self.times):
            return np.zeros(0, bool)
        most = np.maximum.reduceat(self.times, self.firsts[:-1])
        return np.asarray(most * size > self.parts[-1].counts)

    def beliefs(self, tuples: Sequence[Ids], size: int) -> Beliefs:
        """Return what the buckets tell about tuples, given by their sub-tuples; ``size``: l.

            p(t, s) = Σ_B f(t, B) · D(t, B)[s] / Σ_B f(t, B)

        over the buckets B that match t; f is the product of the shares of the sub-tuples of t in B, and D the
        distribution of the sensitive values beside the last one.
        """
        number = len(tuples[0])
        beliefs = Beliefs(np.zeros(number), np.zeros(number), np.zeros(number, np.uint32), np.zeros(number, bool))
        uneven, native = self.uneven(size), library.core()
        if native is None:
            for block in self._blocks(tuples):
                self._believe(block, tuples, uneven, beliefs)
            return beliefs
        codes = np.ascontiguousarray(np.stack(tuples), np.uint32)
        parts = (_Part * len(self.parts))(
            *(_Part(address(part.starts), address(part.buckets), address(part.counts)) for part in self.parts)
        )
        scratch = np.zeros(self.width), np.zeros(self.width, np.uint32), np.zeros(len(self.parts), np.int64)
        native.shoal_matched(
            ctypes.byref(parts),
            len(self.parts),
            *(address(array) for array in (self.sizes, self.firsts, self.values, self.times, uneven, codes)),
            number,
            *(address(array) for array in scratch),
            *(address(array) for array in (beliefs.total, beliefs.largest, beliefs.value, beliefs.uneven)),
        )
        return beliefs

    def matches(self, tuples: Sequence[Ids]) -> Matches:
        """Return the buckets that match each tuple, in ascending order of tuples and buckets."""
        lengths = [part.lengths(codes) for part, codes in zip(self.parts, tuples, strict=True)]
        first = int(np.argmin([length.sum() for length in lengths]))
        owners, places = expanded(self.parts[first].starts[tuples[first]], lengths[first])
        buckets = self.parts[first].buckets[places]
        cells = np.stack(
            [
                places if at == first else part.cells(codes[owners], buckets, len(self.sizes))
                for at, (part, codes) in enumerate(zip(self.parts, tuples, strict=True))
            ],
            axis=1,
        )
        kept = (cells >= 0).all(axis=1)
        return Matches(owners[kept], buckets[kept], cells[kept])

    def shares(self, matches: Matches) -> tuple[Floats, Floats]:
        """Return f(t, B) of each pair, without and with the share of the last sub-tuple."""
        sizes, share = self.sizes[matches.buckets].astype(np.float64), np.ones(len(matches.buckets))
        for part, cells in zip(self.parts[:-1], matches.cells.T, strict=False):
            share = share * (part.counts[cells] / sizes)
        return share, share * (self.parts[-1].counts[matches.cells[:, -1]] / sizes)

    def _blocks(self, tuples: Sequence[Ids]) -> list[NDArray[np.intp]]:
        """Divide tuples into blocks with few candidates each."""
        ends = np.cumsum(np.min([part.lengths(codes) for part, codes in zip(self.parts, tuples, strict=True)], axis=0))
        return np.split(np.arange(len(ends)), np.flatnonzero(np.diff(ends // _BLOCK)) + 1)

    def _believe(self, block: NDArray[np.intp], tuples: Sequence[Ids], uneven: NDArray[np.bool_], to: Beliefs) -> None:
        """Fill in the beliefs about a block of tuples; the sums are those of the C core."""
        matches = self.matches([codes[block] for codes in tuples])
        share, whole = self.shares(matches)
        to.total[block] = np.bincount(matches.tuples, whole, len(block))
        cells = matches.cells[:, -1]
        to.uneven[block] = np.bincount(matches.tuples, uneven[cells], len(block)) > 0
        pair, place = expanded(self.firsts[cells], self.firsts[cells + 1] - self.firsts[cells])
        weights = share[pair] * (self.times[place] / self.sizes[matches.buckets[pair]])
        held = group_rows(
            [matches.tuples[pair].astype(np.uint32), self.values[place]], [len(block), self.width], len(pair)
        )
        sums, owners = np.bincount(held.ids, weights, len(held)), matches.tuples[pair][held.first]
        best = np.lexsort((self.values[place][held.first], -sums, owners))
        best = best[np.flatnonzero(np.diff(owners[best], prepend=-1))]
        to.largest[block[owners[best]]] = sums[best]
        to.value[block[owners[best]]] = self.values[place][held.first][best]
