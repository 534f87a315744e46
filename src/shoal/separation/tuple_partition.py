"""Tuple partition: buckets of similar records, cut as long as every individual stays protected (Li et al. 2012)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.cuts import Parts
from shoal.kernels.grouping import group_rows
from shoal.kernels.slices import Ids, Slices, SubTuples
from shoal.progress import Hook, Progress, silent
from shoal.separation.diversity import Mask, blamed, probable
from shoal.separation.sliceable import SliceableRecords

Starts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TuplePartition:
    """The division of records into buckets.

    ``groups``: the quasi-identifiers of each group of columns without sensitive values. ``beside``: those that are
    released beside the sensitive values. ``size``: l, also the smallest number of individuals in a bucket.

    Buckets are stretches of the records, in an order that changes with every cut; a division is the list of the places
    at which they start.
    """

    records: SliceableRecords
    groups: tuple[tuple[str, ...], ...]
    beside: tuple[str, ...]
    size: int

    @property
    def is_possible(self) -> bool:
        """Whether a single bucket protects every individual."""
        whole = self._of_record(np.zeros(1, np.int64))
        if len(self._failing(whole, np.ones(len(whole), bool))):
            return False
        return not any(probable(slices, self._tuples, self.size)[0].any() for slices in self._slices(whole))

    def buckets(self, progress: Hook = silent) -> Ids:
        """Return the bucket of each record.

        Each bucket is cut at the median of the quasi-identifier in which it is widest, or of the next one; records with
        the same value are divided at random. A cut is not made if a half has fewer than l individuals, violates a
        requirement, or makes a value of an individual more probable than 1/l. If several cuts do so together, those
        that contribute most are not made.
        """
        starts, is_open = np.zeros(1, np.int64), np.ones(1, bool)
        while is_open.any():
            settled = int(np.diff(np.append(starts, len(self.records)))[~is_open].sum())
            progress(Progress(f"dividing, {len(starts):,} buckets", settled, len(self.records)))
            cut, middles = self._round(starts, is_open)
            both = np.concatenate([starts, middles[cut]])
            order = np.argsort(both, kind="stable")
            starts, is_open = both[order], np.concatenate([cut, np.ones(int(cut.sum()), bool)])[order]
        return self._of_record(starts)

    def _round(self, starts: Starts, is_open: Mask) -> tuple[Mask, Starts]:
        """Return which buckets are cut, and where."""
        ends = np.append(starts[1:], len(self.records))
        spans = self._parts.spans(starts, ends)
        order = np.argsort((spans.high - spans.low) / -self._lengths, axis=1, kind="stable")
        cut, middles = np.zeros(len(starts), bool), starts.copy()
        for rank in range(order.shape[1]):
            left = np.flatnonzero(is_open & ~cut & (spans.sizes >= 2 * self.size))
            columns, sizes = order[left, rank], spans.sizes[left]
            middles[left], first = self._parts.cut(
                starts[left], ends[left], sizes, columns, self._places, self._at[columns], relaxed=True
            )
            chosen = left[np.minimum(first, sizes - first) >= self.size]
            made = np.sort(np.concatenate([starts, middles[cut]]))
            cut[chosen[self._allowed(made, middles[chosen])]] = True
        return cut, middles

    def _allowed(self, starts: Starts, middles: Starts) -> Mask:
        """Return which further cuts of a division may be made."""
        if not len(middles):
            return np.zeros(0, bool)
        parents, before = np.searchsorted(starts, middles, side="right") - 1, self._of_record(starts)
        halves = np.sort(np.concatenate([starts, middles]))
        failing = self._failing(self._of_record(halves), np.isin(before, parents))
        allowed = ~np.isin(parents, np.searchsorted(starts, halves[failing], side="right") - 1)
        tuples, old = self._affected(before, parents[allowed]), self._slices(before)
        while allowed.any():
            after = self._of_record(np.sort(np.concatenate([starts, middles[allowed]])))
            parent = np.zeros(int(after.max()) + 1, np.uint32)
            parent[after] = before
            worst = [
                blamed(slices, now, tuples, self.size, parent, parents[allowed])
                for slices, now in zip(old, self._slices(after), strict=True)
            ]
            if not any(map(len, worst)):
                break
            allowed &= ~np.isin(parents, np.concatenate(worst))
        return allowed

    def _affected(self, buckets: Ids, chosen: NDArray[np.intp]) -> tuple[Ids, ...]:
        """Return the tuples that may match one of the chosen buckets: those have each of their sub-tuples."""
        inside, tuples = np.isin(buckets, chosen), self._tuples
        affected = np.ones(len(tuples[0]), bool)
        for (codes, number), known in zip(self._sub_tuples, tuples, strict=True):
            is_there = np.zeros(number, bool)
            is_there[codes[inside]] = True
            affected &= is_there[known]
        return tuple(codes[affected] for codes in tuples)

    def _failing(self, buckets: Ids, chosen: Mask) -> Ids:
        """Return which buckets violate a requirement on sensitive values, among those of the chosen records.

        An adversary knows the quasi-identifiers beside the values, so that these divide a bucket into classes.
        """
        codes, number = self._sub_tuples[-1]
        classes = group_rows([buckets[chosen], codes[chosen]], [int(buckets.max()) + 1, number], int(chosen.sum()))
        failing = self.records.failing(np.flatnonzero(chosen), classes.ids, len(classes))
        return np.unique(buckets[chosen][classes.first][failing])

    def _of_record(self, starts: Starts) -> Ids:
        """Return the bucket of each record in a division."""
        of_record, is_start = np.zeros((2, len(self.records)), np.uint32)
        is_start[starts] = 1
        of_record[self._parts.order] = np.cumsum(is_start, dtype=np.uint32) - np.uint32(1)
        return of_record

    def _slices(self, buckets: Ids) -> tuple[Slices, ...]:
        """Return the contents of buckets, for each sensitive column."""
        persons = np.ones(len(self.records), np.int64)
        parts = [SubTuples(codes, number, buckets, persons) for codes, number in self._sub_tuples]
        values = self.records.sensitive.values()
        return tuple(Slices.of(parts, codes.astype(np.uint32), column.size) for column, codes in values)

    @cached_property
    def _sub_tuples(self) -> tuple[tuple[Ids, int], ...]:
        """The sub-tuple of each record in each group of columns, and their number; those beside the values are last."""
        groups = [self.records.tuples(names) for names in (*self.groups, self.beside)]
        return tuple((group.ids, len(group)) for group in groups)

    @cached_property
    def _tuples(self) -> tuple[Ids, ...]:
        """The distinct tuples, as a sub-tuple in each group."""
        codes, sizes = zip(*self._sub_tuples, strict=True)
        first = group_rows(codes, sizes, len(self.records)).first
        return tuple(of_group[first] for of_group in codes)

    @cached_property
    def _parts(self) -> Parts:
        """The records, in an order in which those of a bucket are adjacent."""
        places = np.stack([*self.records.order.values()], axis=1)
        return Parts(places.astype(np.uint32), np.ones(len(self.records), np.uint32))

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        """The number of different values of each quasi-identifier."""
        return np.array([int(places.max()) + 1 for places in self.records.order.values()])

    @cached_property
    def _places(self) -> Ids:
        """The places of all quasi-identifiers in turn."""
        return np.concatenate([np.arange(length, dtype=np.uint32) for length in self._lengths])

    @cached_property
    def _at(self) -> NDArray[np.int64]:
        """The first place of each quasi-identifier among those of all."""
        return np.cumsum(self._lengths) - self._lengths
