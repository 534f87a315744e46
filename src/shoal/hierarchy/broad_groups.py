"""Broad groups: a last level of few, large intervals, so that small tables and extreme values need no suppression."""

from collections.abc import Iterator
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.interval import Interval
from shoal.kernels.summing import summed
from shoal.table.column import Column
from shoal.table.scale import doubles

_SHARE = 4  # a group has at least one of so many parts of the individuals


def merging_some(intervals: Interval, column: Column) -> Interval | None:
    """Return intervals without the widths that merge no values, such as those of codes; None if all merge none.

    >>> import shoal
    >>> table = shoal.read({"grade": [0, 0.5, 1, 1.2]})
    >>> merging_some(Interval(widths=[0.1, 0.5, 1]), table["grade"]).widths
    [0.5, 1.0]
    """
    values = doubles(column.values).to_numpy(zero_copy_only=False)
    if not np.isfinite(values).all():
        return intervals
    groups = {width: np.floor((values - intervals.anchor) / width + 1e-9) for width in intervals.widths}
    widths = [width for width, numbers in groups.items() if len(np.unique(numbers)) < len(values)]
    return intervals.model_copy(update={"widths": widths}) if widths else None


def with_broad_groups(intervals: Interval, column: Column, persons: NDArray[np.int64], least: int) -> Interval:
    """Return intervals with a further level of groups of at least a quarter of the individuals, and of ``least``.

    ``persons``: the number of individuals with each value of the column. The groups consist of whole intervals of the
    level before. Intervals that cannot be merged into two such groups, or not into fewer, stay as they are.

    >>> import shoal
    >>> table = shoal.read({"age": [1, 41, 43, 55, 62, 64, 68, 71, 73, 86]})
    >>> with_broad_groups(Interval(widths=[10, 20]), table["age"], table.counts("age"), 3).cuts
    [[60.0]]
    """
    if not intervals.widths or not len(column.values):
        return intervals
    values = doubles(column.values).to_numpy(zero_copy_only=False)
    if not np.isfinite(values).all():
        return intervals
    edges = np.array([*_edges(intervals, values)])
    groups = summed(np.searchsorted(edges, values, side="right"), persons[: len(values)], len(edges) + 1)
    chosen = _merged(groups, max(least, ceil(groups.sum() / _SHARE)))
    if not 0 < len(chosen) < np.count_nonzero(groups) - 1:
        return intervals
    return intervals.model_copy(update={"cuts": [edges[chosen].tolist()]})


def _edges(intervals: Interval, values: NDArray[np.float64]) -> Iterator[float]:
    """Yield the lower bounds of the intervals of the last level between the extreme values."""
    width, anchor = intervals.widths[-1], intervals.anchor
    low = values[0] if intervals.bottom is None else max(values[0], intervals.bottom)
    high = values[-1] if intervals.top is None else min(values[-1], intervals.top)
    for step in range(floor((low - anchor) / width) + 1, floor((high - anchor) / width) + 1):
        yield float(f"{anchor + step * width:.12g}")


def _merged(groups: NDArray[np.int64], least: int) -> list[int]:
    """Return the bounds between groups that remain if neighbours are merged from below until each has enough."""
    chosen, inside, left = list[int](), 0, int(groups.sum())
    for bound, persons in enumerate(groups[:-1].tolist()):
        inside, left = inside + persons, left - persons
        if inside >= least and left >= least:
            chosen.append(bound)
            inside = 0
    return chosen
