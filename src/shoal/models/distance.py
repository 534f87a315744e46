"""Distances between the sensitive values of a class and those of the table, in integer arithmetic.

With counts c of n in the class and r of N in the table, the three distances of t-closeness are sums over ``c·N − r·n``,
divided once at the end.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.classes.histogram import Histogram
from shoal.errors import ModelError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.grouping import group
from shoal.kernels.ratios import Ratios

Whole = NDArray[np.int64]  # or Python integers, where 64 bits might not suffice


def equal_distance(histogram: Histogram) -> Ratios:
    """Return ½ Σ |q − p| for each class: any two values are equally far apart."""
    counts, reference, totals, everybody = _whole(histogram, 1)
    there = reference[histogram.codes]
    apart = _summed(histogram, np.abs(counts * everybody - there * totals[histogram.classes]))
    absent = totals * (everybody - _summed(histogram, there))
    return Ratios(apart + absent, 2 * everybody * totals)


def ordered_distance(histogram: Histogram) -> Ratios:
    """Return Σ |cumulated q − p| / (m − 1) for each class: the distance of two values is that of their ranks among m.

    A class has few of the m values. Between two of them, its cumulated counts are constant while those of the table
    increase, so the difference changes its sign once in each stretch.
    """
    _check_order(histogram)
    size = len(histogram.column.values)
    counts, reference, totals, everybody = _whole(histogram, size)
    if size == 1:
        return Ratios(0 * totals, totals)
    risen = np.cumsum(reference)[: size - 1]
    area = np.concatenate([risen[:1] * 0, np.cumsum(risen)])
    owner, begin, end, level = _stretches(histogram, counts, size - 1)
    people = totals[owner]
    turn = np.clip(np.searchsorted(risen, level * everybody // people, side="right"), begin, end)
    above = (turn - begin) * (level * everybody) - people * (area[turn] - area[begin])
    below = people * (area[end] - area[turn]) - (end - turn) * (level * everybody)
    return Ratios(_by_class(owner, above + below, len(totals)), everybody * totals * (size - 1))


def _stretches(histogram: Histogram, counts: Whole, end: int) -> tuple[Whole, Whole, Whole, Whole]:
    """Split each class into stretches of constant cumulated count: owner, begin, end, cumulated count."""
    number = len(histogram.starts) - 1
    before = np.cumsum(counts) - counts
    level = before + counts - before[histogram.starts[histogram.classes]]
    owner = np.concatenate([np.arange(number), histogram.classes.astype(np.int64)])
    begin = np.concatenate([np.zeros(number, np.int64), histogram.codes.astype(np.int64)])
    level = np.concatenate([0 * before[histogram.starts[:-1]], level])
    order = np.lexsort((np.arange(len(owner)) >= number, begin, owner))
    owner, begin, level = owner[order], np.minimum(begin[order], end), level[order]
    stop = np.full(len(owner), end, np.int64)
    stop[:-1] = np.where(owner[1:] == owner[:-1], begin[1:], end)
    return owner, begin, stop, level


def _check_order(histogram: Histogram) -> None:
    column = histogram.column
    if not column.kind.ordered:
        raise ModelError(
            "no-order",
            "The values of column '{column}' ({kind}) have no order.",
            remedy="Use the distance equal or hierarchical, or read the column as ordered categories.",
            column=column.name,
            kind=column.kind,
        )
    if histogram.reference[len(column.values) :].any():
        raise ModelError(
            "gaps-in-order",
            "Column '{column}' has missing or suppressed values, which have no place in the order.",
            remedy="Use the distance equal, or fill the gaps.",
            column=column.name,
        )


def hierarchical_distance(histogram: Histogram, hierarchy: Hierarchy) -> Ratios:
    """Return Σ (level / height) · min(surplus, lack) over the nodes of the hierarchy, for each class (Li et al. 2007).

    The distance of two values is the level of the lowest node that covers both. At each node, the surplus of some
    children offsets the lack of the others, and this amount is moved over the distance of that level.
    """
    counts, reference, totals, everybody = _whole(histogram, hierarchy.height)
    owner, node = histogram.classes, hierarchy.nodes(0)[histogram.codes]
    there = _by_class(hierarchy.nodes(0), reference, len(hierarchy.levels[0]))
    moved = 0 * totals
    for level in range(1, hierarchy.height + 1):
        above = _parents(hierarchy, level)
        size = len(hierarchy.levels[level])
        covered = _by_class(above, there, size)
        difference = counts * everybody - there[node] * totals[owner]
        groups = group(owner.astype(np.uint64) * np.uint64(size) + above[node], len(totals) * size)
        surplus = _by_class(groups.ids, np.maximum(difference, 0), len(groups))
        lack = _by_class(groups.ids, np.maximum(-difference, 0), len(groups))
        seen = _by_class(groups.ids, there[node], len(groups))
        owner, node = owner[groups.first], above[node[groups.first]]
        lack += totals[owner] * (covered[node] - seen)
        moved += level * _by_class(owner, np.minimum(surplus, lack), len(totals))
        counts, there = _by_class(groups.ids, counts, len(groups)), covered
    return Ratios(moved, hierarchy.height * everybody * totals)


def _parents(hierarchy: Hierarchy, level: int) -> NDArray[np.uint32]:
    """Return the parent on the given level of each node of the level below."""
    below, here = hierarchy.levels[level - 1], hierarchy.levels[level]
    parents = np.zeros(len(below), np.uint32)
    parents[below.nodes] = here.nodes
    return parents


def divergence(histogram: Histogram) -> NDArray[np.float64]:
    """Return the Kullback–Leibler divergence Σ q ln(q / p) of each class from the table, in nats."""
    shares = histogram.counts / histogram.spread(histogram.totals())
    expected = histogram.reference[histogram.codes] / histogram.reference.sum()
    with np.errstate(divide="ignore"):
        terms = shares * np.log(shares / expected)
    return np.asarray(np.add.reduceat(terms, histogram.starts[:-1]), np.float64)


def _whole(histogram: Histogram, factor: int) -> tuple[Whole, Whole, Whole, int]:
    """Return counts, reference, totals and the number of persons, in integers that can hold the sums."""
    everybody = int(histogram.reference.sum())
    totals = histogram.totals()
    small = 4 * max(factor, 1) * everybody * max(everybody, int(totals.max())) < 1 << 62
    kind = np.int64 if small else object
    parts = (histogram.counts, histogram.reference, totals)
    counts, reference, totals = (part.astype(kind) for part in parts)
    return counts, reference, totals, everybody


def _summed(histogram: Histogram, numbers: Whole) -> Whole:
    return np.asarray(np.add.reduceat(numbers, histogram.starts[:-1]))


def _by_class(groups: NDArray[np.integer], numbers: Whole, number: int) -> Whole:
    """Sum numbers by group, exactly."""
    sums = np.zeros(number, numbers.dtype)
    np.add.at(sums, groups, numbers)
    return sums
