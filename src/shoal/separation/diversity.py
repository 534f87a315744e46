"""Diversity of slices: what an adversary with all quasi-identifiers concludes from the buckets that match a person."""

from collections.abc import Sequence
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import group_rows
from shoal.kernels.slices import Beliefs, Ids, Slices

Mask = NDArray[np.bool_]
_CLOSE = 1e-9  # relative distance from 1/l within which sums are repeated in fractions


def probable(slices: Slices, tuples: Sequence[Ids], size: int) -> tuple[Mask, Beliefs]:
    """Return for which tuples a sensitive value is more probable than 1/``size``, and the beliefs about all tuples.

    A bucket in which no value has more than 1/l of the matching records cannot raise the probability above 1/l. All
    other sums that are close to 1/l are repeated in fractions, so that no result depends on rounding.

    >>> from shoal.kernels.slices import SubTuples
    >>> alone, values = np.zeros(4, np.uint32), np.array([0, 1, 0, 1], np.uint32)
    >>> parts = [SubTuples(codes, 2, alone, np.ones(4, int)) for codes in (values, alone)]
    >>> slices = Slices.of(parts, values, 2)
    >>> [probable(slices, [np.array([0], np.uint32), alone[:1]], size)[0].tolist() for size in (2, 3)]
    [[False], [True]]
    """
    beliefs = slices.beliefs(tuples, size)
    above, limit = beliefs.largest * size - beliefs.total, _CLOSE * beliefs.total
    result = beliefs.uneven & (above > limit)
    for place in np.flatnonzero(beliefs.uneven & (np.abs(above) <= limit)):
        result[place] = exact(slices, [codes[place : place + 1] for codes in tuples]) * size > 1
    return result, beliefs


def exact(slices: Slices, one: Sequence[Ids]) -> Fraction:
    """Return the highest probability of a value for one tuple, given by its sub-tuples.

    >>> from shoal.kernels.slices import SubTuples
    >>> alone, values = np.zeros(3, np.uint32), np.array([0, 1, 1], np.uint32)
    >>> slices = Slices.of([SubTuples(alone, 1, alone, np.ones(3, int))] * 2, values, 2)
    >>> exact(slices, [alone[:1], alone[:1]])
    Fraction(2, 3)
    """
    matches, sums, total = slices.matches(one), dict[int, Fraction](), Fraction(0)
    for bucket, cells in zip(matches.buckets.tolist(), matches.cells.tolist(), strict=True):
        size = int(slices.sizes[bucket])
        counts = [int(part.counts[cell]) for part, cell in zip(slices.parts, cells, strict=True)]
        share = Fraction(prod(counts[:-1]), size ** (len(counts) - 1))
        total += share * Fraction(counts[-1], size)
        for at in range(slices.firsts[cells[-1]], slices.firsts[cells[-1] + 1]):
            value = int(slices.values[at])
            sums[value] = sums.get(value, Fraction(0)) + share * Fraction(int(slices.times[at]), size)
    return max(sums.values(), default=Fraction(0)) / (total or 1)


def excess(
    slices: Slices, tuples: Sequence[Ids], values: Ids, size: int
) -> tuple[NDArray[np.intp], Ids, NDArray[np.float64]]:
    """Return pairs of a tuple and a matching bucket, and by how much the bucket exceeds 1/l for a value of the tuple.

    This is f(t, B) · (l · D(t, B)[s] − 1) for the value s given for each tuple: the probability of s exceeds 1/l if the
    sum over all buckets is positive. ``size``: l.
    """
    matches = slices.matches(tuples)
    share, whole = slices.shares(matches)
    cells, width = matches.cells[:, -1], max(slices.width, 1)
    keys = np.repeat(np.arange(len(slices.firsts) - 1), np.diff(slices.firsts)) * width + slices.values
    sought = cells * width + values[matches.tuples]
    places = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
    times = np.where(keys[places] == sought, slices.times[places], 0)
    return matches.tuples, matches.buckets, share * (size * times / slices.sizes[matches.buckets]) - whole


def blamed(  # noqa: PLR0913, PLR0917 - a division before and after, and what is judged
    before: Slices, after: Slices, tuples: Sequence[Ids], size: int, parents: Ids, cut: NDArray[np.intp]
) -> Ids:
    """Return which of the buckets that were ``cut`` contributes most to each violation; none if there is no violation.

    ``parents``: the bucket before the cuts, of which each bucket after them is a part.
    """
    violated, beliefs = probable(after, tuples, size)
    some, values = [codes[violated] for codes in tuples], beliefs.value[violated]
    if not len(values):
        return np.zeros(0, np.uint32)
    old, new = excess(before, some, values, size), excess(after, some, values, size)
    owners = np.concatenate([old[0], new[0]]).astype(np.uint32)
    buckets = np.concatenate([old[1], parents[new[1]]])
    is_cut = np.isin(buckets, cut)
    owners, buckets = owners[is_cut], buckets[is_cut]
    pairs = group_rows([owners, buckets], [len(values), len(before.sizes)], len(owners))
    more = np.bincount(pairs.ids, np.concatenate([-old[2], new[2]])[is_cut], len(pairs))
    owners, buckets = owners[pairs.first], buckets[pairs.first]
    worst = np.lexsort([buckets, -more, owners])
    return np.unique(buckets[worst[np.flatnonzero(np.diff(owners[worst].astype(np.int64), prepend=-1))]])
