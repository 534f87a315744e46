"""Generalisation sweep: the number of protected persons if one variable is divided into ever fewer classes.

If one variable is generalised into intervals, the protection of a person depends only on the rows of their own
interval; knowledge that excludes the variable is unaffected. The number of protected persons is therefore a sum over
intervals, and so is the loss. The best partition is found by dynamic programming over the cut points, not by
enumeration.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ColumnError, ModelError
from shoal.individuals.proximity import number
from shoal.individuals.question import Question
from shoal.kernels.grouping import group_rows
from shoal.kernels.subsets import Rows, agreeing
from shoal.subsets import SubsetCounts
from shoal.table.kind import Kind

MOST = 400  # maximum number of values; the number of intervals is its square
NEVER = -(2**63) + 1
STATES = 200_000_000  # maximum number of partial partitions in memory for the curve


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of a variable into intervals, each given by its first and last value.

    ``protected``: the number of persons with more than a share p of protective peers under every combination.
    ``share``: their share of all persons. ``loss``: the mean width of a person's interval, from 0 (unchanged) to 1 (one
    class). ``smallest``: the number of persons in the smallest interval.
    """

    intervals: tuple[tuple[Any, Any], ...]
    protected: int
    share: float
    loss: float
    smallest: int


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """A partition as in the paper: ``categories`` classes of equal width, except for the lowest and the highest."""

    categories: int
    width: int
    offset: int
    partition: Partition


@dataclass(frozen=True, slots=True)
class Sweep:
    """The protection of a sensitive variable under partitions of a known one.

    ``equal_width``: every partition of the paper. ``best[n − 1]``: the partition into n classes that protects most
    persons, with the least loss among ties; None if the classes would be too small. ``curve``: in order of loss, the
    partitions that protect more persons than all partitions with less loss.
    """

    variable: str
    sensitive: str
    persons: int
    equal_width: tuple[EqualWidth, ...]
    best: tuple[Partition | None, ...]
    curve: tuple[Partition, ...]


def sweep(  # noqa: PLR0913 - keyword-only options
    counted: SubsetCounts,
    variable: str,
    sensitive: str,
    known: Sequence[str],
    question: Question,
    *,
    smallest_class: int = 1,
) -> Sweep:
    """Evaluate all partitions of a variable, which is one of the known ones.

    >>> import shoal
    >>> people = shoal.peers({"age": [20, 21, 50, 51], "dx": ["flu", "ms", "flu", "ms"]}, sensitive="dx")
    >>> swept = people.sweep("age", "dx")
    >>> [(one.protected, one.intervals) for one in swept.best[:2]]
    [(4, ((20, 51),)), (4, ((20, 21), (50, 51)))]
    """
    intervals = _Intervals.of(counted, variable, sensitive, known, question)
    return Sweep(
        variable,
        sensitive,
        intervals.everybody,
        tuple(_equal_widths(intervals)),
        tuple(_best(intervals, smallest_class)),
        tuple(_curve(intervals, smallest_class)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Intervals:
    """All intervals of a variable: arrays hold at [a, b] the interval from the a-th to the b-th value.

    ``apart``: the protected persons without a value, who belong to no interval. ``loss``: persons times width, in whole
    numbers, so that equal losses compare equal. ``span``: the greatest width.
    """

    values: tuple[Any, ...]
    whole: tuple[int, ...] | None
    protected: NDArray[np.int64]
    persons: NDArray[np.int64]
    loss: NDArray[np.int64]
    span: int
    everybody: int
    apart: int

    @classmethod
    def of(
        cls, counted: SubsetCounts, variable: str, sensitive: str, known: Sequence[str], question: Question
    ) -> "_Intervals":
        column = counted.columns[counted.names.index(variable)]
        rows = counted.rows
        if not column.kind.ordered:
            raise ColumnError(
                "no-order",
                "Column '{column}' has no order and cannot be divided into intervals.",
                remedy="Choose a column of numbers or dates.",
                column=variable,
            )
        if not 1 <= len(column.values) <= MOST:
            raise ModelError(
                "too-many-values",
                "Column '{column}' has {values:,} values, which give no intervals or too many.",
                remedy="Generalise it first, for example dates to years: up to {most} values can be swept.",
                column=variable,
                values=len(column.values),
                most=MOST,
            )
        if len(rows.weights) != len(rows) or rows.near:
            raise ModelError("several-records", "A sweep requires one record per individual, and no tolerances.")
        values = tuple(column.values.to_pylist())
        places = rows.columns[counted.names.index(variable)].astype(np.int64)
        task = _Task(
            rows, places, len(values), counted.subset([variable]), counted.subset([sensitive]), counted.subset(known)
        )
        protected, apart = task.protected(question)
        persons = np.bincount(places, rows.weights[rows.holders], column.size).astype(np.int64)[: len(values)]
        total = np.concatenate([[0], np.cumsum(persons)])
        inside = np.maximum(total[None, 1:] - total[:-1, None], 0)
        everybody = int(rows.weights.sum())
        numbers = _scaled([number(value, place) for place, value in enumerate(values)], everybody)
        width = np.maximum(numbers[None, :] - numbers[:, None], 0)
        span = max(int(width.max()), 1)
        return cls(values, _whole(column.kind, values), protected, inside, width * inside, span, everybody, apart)

    def partition(self, cuts: Sequence[tuple[int, int]]) -> Partition:
        """Return the partition into these intervals, each given by the positions of its first and last value."""
        protected = self.apart + sum(int(self.protected[cut]) for cut in cuts)
        return Partition(
            tuple((self.values[first], self.values[last]) for first, last in cuts),
            protected,
            protected / self.everybody,
            sum(int(self.loss[cut]) for cut in cuts) / (self.span * self.everybody),
            min(int(self.persons[cut]) for cut in cuts),
        )


def _scaled(numbers: Sequence[Fraction], everybody: int) -> NDArray[np.int64]:
    """Return numbers as integers from 0, exactly unless their losses would exceed 64 bits."""
    scale = lcm(*(number.denominator for number in numbers))
    finest = Fraction(2**62, everybody**2) / max(numbers[-1] - numbers[0], Fraction(1))
    return np.array([int((number - numbers[0]) * min(Fraction(scale), finest)) for number in numbers], np.int64)


def _whole(kind: Kind, values: Sequence[Any]) -> tuple[int, ...] | None:
    """Return dates and whole numbers as integers; None for other values."""
    if kind is Kind.DATE:
        return tuple(value.toordinal() for value in values)
    if kind.numeric and all(float(value).is_integer() for value in values):
        return tuple(int(value) for value in values)
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """Rows with the position of their value in the variable, out of ``number``; and three sets of columns, as bits."""

    rows: Rows
    places: NDArray[np.int64]
    number: int
    variable: int
    sensitive: int
    known: int

    @property
    def weights(self) -> NDArray[np.int64]:
        return self.rows.weights[self.rows.holders]

    def protected(self, question: Question) -> tuple[NDArray[np.int64], int]:
        """Return the number of protected persons of every interval, and of those without a value."""
        asked = list(question.subsets(self.known))
        full = question.p == 0 and self.known in asked and not any(code is not None for code in self.rows.apart)
        valued = self.places < self.number
        protected = self._by_next_other(valued) if full else self._one_by_one(asked, question, valued)
        rest = np.flatnonzero(~valued)
        including = [subset for subset in asked if subset & self.variable]
        safe = self._protected_under(self._part(rest), including, question) & self._safe_without(asked, question)[rest]
        return protected, int(self.weights[rest][safe].sum())

    def _by_next_other(self, valued: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Count protected persons if full knowledge decides: a peer with another value must be in the interval.

        Only the positions of the next such peers, below and above, matter.
        """
        others = [self.rows.columns[place] for place in _members(self.known & ~self.variable, len(self.rows.columns))]
        sizes = [int(codes.max(initial=0)) + 1 for codes in others]
        groups = group_rows(others, sizes, len(self.rows)).ids.astype(np.int64)
        (sensitive,) = _members(self.sensitive, len(self.rows.columns))
        secrets = self.rows.columns[sensitive].astype(np.int64)
        chosen = np.flatnonzero(valued)
        below, above = _next_other(groups[chosen], self.places[chosen], secrets[chosen], self.number)
        at, weights = self.places[chosen], self.weights[chosen]
        protected = np.zeros((self.number, self.number), np.int64)
        for first in range(self.number):
            inside = at >= first
            reached = np.cumsum(np.bincount(at[inside], weights[inside], self.number))
            lonely = inside & (below < first)  # unprotected until the interval reaches the next one above
            alone = np.bincount(at[lonely], weights[lonely], self.number + 1)
            alone -= np.bincount(above[lonely], weights[lonely], self.number + 1)
            protected[first] = reached - np.cumsum(alone)[: self.number]
        return np.triu(protected)

    def _one_by_one(self, asked: Sequence[int], question: Question, valued: NDArray[np.bool_]) -> NDArray[np.int64]:
        protected = np.zeros((self.number, self.number), np.int64)
        without = self._safe_without(asked, question)
        for first in range(self.number):
            for last in range(first, self.number):
                inside = np.flatnonzero(valued & (self.places >= first) & (self.places <= last))
                safe = self._safe(inside, asked, question) & without[inside]
                protected[first, last] = self.weights[inside][safe].sum()
        return protected

    def _safe(self, inside: NDArray[np.intp], asked: Sequence[int], question: Question) -> NDArray[np.bool_]:
        """Return which rows of an interval are protected under every combination that includes the variable."""
        subsets = {subset & ~self.variable for subset in asked if subset & self.variable}
        return self._protected_under(self._part(inside), sorted(subsets), question)

    def _part(self, inside: NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
        return Rows(
            tuple(codes[inside] for codes in self.rows.columns),
            np.arange(len(inside), dtype=np.uint32),
            self.weights[inside],
            self.rows.apart,
        )

    def _safe_without(self, asked: Sequence[int], question: Question) -> NDArray[np.bool_]:
        """Return which rows are protected under every combination that excludes the variable."""
        return self._protected_under(self.rows, [subset for subset in asked if not subset & self.variable], question)

    def _protected_under(self, rows: Rows, subsets: Sequence[int], question: Question) -> NDArray[np.bool_]:
        safe = np.ones(len(rows), bool)
        if len(rows) == 0:
            return safe
        p = question.p
        for subset in subsets:
            peers = agreeing(rows, subset).astype(object)
            same = agreeing(rows, subset | self.sensitive).astype(object)
            safe &= np.asarray((peers - same) * p.denominator > peers * p.numerator, bool)
        return safe


def _members(columns: int, width: int) -> list[int]:
    return [place for place in range(width) if columns >> place & 1]


def _next_other(
    groups: NDArray[np.int64], places: NDArray[np.int64], secrets: NDArray[np.int64], number: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each row, the nearest places below and above at which its group has another sensitive value.

    −1 and ``number`` if there is none. The row's own place counts if another sensitive value occurs there.

    >>> import numpy as np
    >>> below, above = _next_other(np.zeros(4, int), np.array([0, 1, 1, 3]), np.array([7, 7, 8, 8]), 4)
    >>> below.tolist(), above.tolist()
    ([-1, 1, 1, 1], [1, 1, 1, 4])
    """
    order = np.lexsort((secrets, places, groups))
    group, place, secret = groups[order], places[order], secrets[order]
    new = np.ones(len(order), bool)  # a cell holds the rows of a group at one place
    new[1:] = (group[1:] != group[:-1]) | (place[1:] != place[:-1])
    cell = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(order)) - 1
    mixed = secret[first] != secret[last]
    group, place, secret = group[first], place[first], secret[first]
    breaks = np.ones(len(first), bool)  # a run: consecutive cells of a group with a single common value
    breaks[1:] = (group[1:] != group[:-1]) | mixed[1:] | mixed[:-1] | (secret[1:] != secret[:-1])
    starts = np.flatnonzero(breaks)
    run = np.cumsum(breaks) - 1
    ends = np.append(starts[1:], len(first)) - 1
    before = np.full(len(starts), -1)
    linked = group[starts[1:]] == group[starts[1:] - 1]
    before[1:][linked] = place[starts[1:] - 1][linked]
    after = np.full(len(starts), number)
    after[:-1][linked] = place[ends[:-1] + 1][linked]
    below, above = np.where(mixed, place, before[run]), np.where(mixed, place, after[run])
    back_below, back_above = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    back_below[order], back_above[order] = below[cell], above[cell]
    return back_below, back_above


def _equal_widths(intervals: _Intervals) -> Iterator[EqualWidth]:
    """Yield the partitions of the paper: right-closed cuts at equal distances, for every offset."""
    grid = intervals.whole
    if grid is None or grid[-1] - grid[0] > 1000:
        grid = tuple(range(len(intervals.values)))  # classes with equal numbers of values
    span = grid[-1] - grid[0] + 1
    for categories in dict.fromkeys(ceil(span / width) for width in range(1, span + 1)):
        width = ceil(span / categories)
        steps = [width * step for step in range(categories - 1)]
        for offset in range(span - 1 - steps[-1] if steps else 1):
            tops = [grid[0] + offset + step for step in steps]
            yield EqualWidth(categories, width, offset, intervals.partition(_cut(grid, tops)))


def _cut(grid: Sequence[int], tops: Sequence[int]) -> list[tuple[int, int]]:
    """Return the non-empty intervals, by place, of classes that end at the given numbers; the last takes the rest."""
    ends = np.append(np.searchsorted(grid, tops, side="right"), len(grid))
    starts = np.append(0, ends[:-1])
    return [(int(start), int(end) - 1) for start, end in zip(starts, ends, strict=True) if end > start]


def _best(intervals: _Intervals, smallest_class: int) -> Iterator[Partition | None]:
    """Yield, for every number of classes, the partition that protects most persons, with the least loss among ties."""
    size = len(intervals.values)
    allowed = (intervals.persons >= smallest_class) & (np.arange(size)[:, None] <= np.arange(size))
    # A single objective to maximise: first the number of protected persons, then the least loss.
    most = intervals.span * intervals.everybody + 1
    gain = np.where(allowed, intervals.protected * most - intervals.loss, NEVER)
    reached = np.full(size + 1, NEVER)
    reached[0] = 0
    steps: list[NDArray[np.intp]] = []
    for _ in range(size):
        through = np.where((reached[:-1, None] > NEVER) & (gain > NEVER), reached[:-1, None] + gain, NEVER)
        steps.append(np.argmax(through, axis=0))
        reached = np.concatenate([[NEVER], through.max(axis=0)])
        yield None if reached[-1] == NEVER else intervals.partition(_followed(steps, size))


def _followed(steps: Sequence[NDArray[np.intp]], number: int) -> list[tuple[int, int]]:
    cuts, end = [], number
    for step in reversed(steps):
        start = int(step[end - 1])
        cuts.append((start, end - 1))
        end = start
    return cuts[::-1]


def _curve(intervals: _Intervals, smallest_class: int) -> Iterator[Partition]:
    """Yield the Pareto-optimal partitions: no other protects as many persons with less loss.

    ``least[b][n]``: the least loss of a partition of the first b values that protects n persons.
    """
    size = len(intervals.values)
    most = int(intervals.persons[0, size - 1])
    if (size + 1) * (most + 1) > STATES:
        return
    least = np.full((size + 1, most + 1), -NEVER)
    step = np.zeros((size + 1, most + 1), np.uint32)
    least[0, 0] = 0
    for end in range(1, size + 1):
        for start in range(end):
            gained = int(intervals.protected[start, end - 1])
            if intervals.persons[start, end - 1] < smallest_class or gained > most:
                continue
            through = least[start, : most + 1 - gained] + intervals.loss[start, end - 1]
            better = (least[start, : most + 1 - gained] < -NEVER) & (through < least[end, gained:])
            least[end, gained:][better] = through[better]
            step[end, gained:][better] = start
    lowest = -NEVER
    curve = []
    for protected in range(most, -1, -1):
        if least[size, protected] < lowest:
            lowest = int(least[size, protected])
            curve.append(intervals.partition(_traced(step, intervals, size, protected)))
    yield from reversed(curve)


def _traced(step: NDArray[np.uint32], intervals: _Intervals, end: int, protected: int) -> list[tuple[int, int]]:
    cuts = []
    while end:
        start = int(step[end, protected])
        cuts.append((start, end - 1))
        protected -= int(intervals.protected[start, end - 1])
        end = start
    return cuts[::-1]
