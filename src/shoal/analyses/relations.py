"""Relations: what every record of a table fulfils, so that an artificial record that does not can be recognised.

Most follow from the links between columns: a value for each value, a range for each value, or an equation. Others are
numbers in a fixed order, values that never occur together, and values that are missing together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.equation import Equation, EquationForm
from shoal.analyses.links import Link, Way, links
from shoal.analyses.places import MISSING, as_numbers, places_of
from shoal.analyses.trend import Trend
from shoal.analyses.typicality import MOST_GROUPS, group_edges
from shoal.recoding.nodes import Floats
from shoal.table.column import Column
from shoal.table.raw import Encoded
from shoal.table.scale import scale
from shoal.table.table import Source, Table

Flags: TypeAlias = NDArray[np.bool_]
_ROUNDED = 0.499  # of the smallest difference of two values: an equation that leaves less unknown is exact
_EXPECTED = 10  # records with two values that are expected, so that none at all is no chance
_FEWEST = 10  # minimum number of records in which a value is missing, and in which it is not
_SOMETIMES = 0.005  # share of the rarer case up to which a combination counts as an error
_SLACK = 1.2  # factor of the usual deviation beyond which a record breaks an equation or a range
_TAIL = 0.995  # share of the records whose deviation is usual
_RECORDS, _NEAREST = 5_000, 10  # of the sample for a range, and on each side that determine its middle


class Relation(Protocol):
    """Relation between columns. Values are given by their place: a number, or a code without order."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are related."""

    def broken(self, places: Mapping[str, Floats]) -> Flags:
        """Return whether each record breaks the relation."""


@dataclass(frozen=True, eq=False)
class Function:
    """A value of ``told`` for each value of ``known``: ``values[i]`` beside ``at[i]``.

    A number between two known ones has the value of one of them, or one between them.
    """

    known: str
    told: str
    at: Floats
    values: Floats
    is_ordered: bool
    is_between: bool

    @classmethod
    def of(cls, known: str, told: str, places: Mapping[str, Floats], numeric: frozenset[str]) -> "Function":
        """Return the value of one column that occurs most often beside each value of another."""
        at, values = most_frequent(places[known], places[told])
        return cls(known, told, at, values, known in numeric, known in numeric and told in numeric)

    @property
    def columns(self) -> tuple[str, ...]:
        """Both columns."""
        return self.known, self.told

    def broken(self, places: Mapping[str, Floats]) -> Flags:
        """Return whether each record has another value."""
        above = np.minimum(np.searchsorted(self.at, places[self.known]), len(self.at) - 1)
        below, told = np.maximum(above - 1, 0), places[self.told]
        first, last = self.values[below], self.values[above]
        exact = self.at[above] == places[self.known]
        fits = (told == first) | (told == last)
        if self.is_between:
            fits |= (told >= np.minimum(first, last)) & (told <= np.maximum(first, last))
        return np.asarray(np.where(exact, told != last, ~fits & self.is_ordered))


@dataclass(frozen=True, eq=False)
class NearRange:
    """A range of ``told`` for each number ``known``: ``middle[i] ± rest`` beside ``at[i]``."""

    known: str
    told: str
    at: Floats
    middle: Floats
    rest: float

    @classmethod
    def of(cls, known: str, told: str, places: Mapping[str, Floats], seed: int) -> "NearRange":
        """Return the median of one column beside the records with the nearest numbers, and the usual deviation."""
        there = np.flatnonzero((places[known] > MISSING) & (places[told] > MISSING))
        if len(there) > _RECORDS:
            there = np.random.default_rng(seed).choice(there, _RECORDS, replace=False)
        order = there[np.argsort(places[known][there], kind="stable")]
        at, values = places[known][order], places[told][order]
        padded = np.pad(values, _NEAREST, "reflect", reflect_type="odd")  # continues a rise or fall beyond the ends
        middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * _NEAREST + 1), axis=1)
        return cls(known, told, at, middle, float(np.quantile(np.abs(values - middle), _TAIL)))

    @property
    def columns(self) -> tuple[str, ...]:
        """Both columns."""
        return self.known, self.told

    def broken(self, places: Mapping[str, Floats]) -> Flags:
        """Return whether each record deviates further than nearly all records of the table."""
        known, told = as_numbers(places[self.known]), as_numbers(places[self.told])
        with np.errstate(invalid="ignore"):
            apart = np.abs(told - np.interp(known, self.at, self.middle))
        return np.asarray(apart > _SLACK * self.rest + 1e-9)


@dataclass(frozen=True, slots=True)
class Computed:
    """A number that follows from others by an equation."""

    causes: tuple[str, ...]
    told: str
    equation: Equation

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the equation, the computed one last."""
        return *self.causes, self.told

    def value(self, places: Mapping[str, Floats]) -> Floats:
        """Return the number that follows for each record; NaN if another is missing."""
        return self.equation.of([as_numbers(places[name]) for name in self.causes])

    def broken(self, places: Mapping[str, Floats]) -> Flags:
        """Return whether each record deviates further than nearly all records of the table."""
        apart = np.abs(as_numbers(places[self.told]) - self.value(places))
        return np.asarray(apart > _SLACK * self.equation.rest + 1e-9)


@dataclass(frozen=True, slots=True)
class Ordered:
    """A number that is never larger than another of the same record, such as a beginning and an end."""

    lower: str
    upper: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Both columns."""
        return self.lower, self.upper

    def broken(self, places: Mapping[str, Floats]) -> Flags:
        """Return whether the order is reversed."""
        lower, upper = places[self.lower], places[self.upper]
        return np.asarray((lower > upper) & (lower > MISSING) & (upper > MISSING))


@dataclass(frozen=True, eq=False)
class NeverTogether:
    """Values of two columns that never occur together although both are frequent.

    ``edges``: the bounds of the groups of values of each column. ``absent[a, b]``: whether groups a and b are such.
    """

    columns: tuple[str, str]
    edges: tuple[Floats, Floats]
    absent: Flags

    def groups(self, name: str, values: Floats) -> NDArray[np.intp]:
        """Return the group of each value of one of the columns."""
        return np.searchsorted(self.edges[self.columns.index(name)], values, "right")

    def broken(self, places: Mapping[str, Floats]) -> Flags:
        """Return whether each record has such values."""
        first, other = (self.groups(name, places[name]) for name in self.columns)
        return np.asarray(self.absent[first, other])


@dataclass(frozen=True, slots=True)
class MissingTogether:
    """Columns whose values are missing in the same records, or never, or one only if the other is.

    ``seen[a, b]``: whether it occurs that the first is missing (a = 1) or not, and the other is (b = 1) or not.
    """

    columns: tuple[str, str]
    seen: tuple[tuple[bool, bool], tuple[bool, bool]]

    def broken(self, places: Mapping[str, Floats]) -> Flags:
        """Return whether each record has a combination that does not occur."""
        first, other = ((places[name] == MISSING).astype(np.intp) for name in self.columns)
        return np.asarray(~np.array(self.seen)[first, other])


@dataclass(frozen=True, eq=False)
class Records:
    """Records as codes, with the place of each value."""

    columns: Mapping[str, Column]
    codes: Mapping[str, NDArray[np.integer]]

    def places(self) -> dict[str, Floats]:
        """Return the place of each value: its number, or its code in a column without order."""
        return {name: places_of(self.columns[name])[codes] for name, codes in self.codes.items()}

    def relations(self, seed: int = 0) -> list[Relation]:
        """Return the relations that the records fulfil.

        >>> import shoal
        >>> table = shoal.read({"town": ["x", "y", "z"] * 20, "state": ["a", "a", "b"] * 20})
        >>> records = Records({name: table[name] for name in table.names}, {"town": table.codes("town")})
        >>> Records(records.columns, {name: table.codes(name) for name in table.names}).relations()[0].columns
        ('town', 'state')
        """
        names = list(self.codes)
        if not names or not len(self.codes[names[0]]):
            return []
        encoded = [Encoded(self.columns[name], self.codes[name].astype(np.uint32)) for name in names]
        table = Table.of(encoded, len(self.codes[names[0]]), Source())
        places = self.places()
        numeric = frozenset(name for name in names if scale(self.columns[name]) is not None)
        kinds = [_of_link(link, places, numeric, seed) for link in links(table, names, seed=seed)]
        found = [relation for some in kinds for relation in some]
        others = (_sums(places, numeric), _ordered(places, numeric, seed), _never_together(places, numeric))
        return [*found, *_missing(places), *(relation for some in others for relation in some)]


def _of_link(link: Link, places: Mapping[str, Floats], numeric: frozenset[str], seed: int) -> Iterator[Relation]:
    """Yield the relations that follow from a link."""
    pairs: Sequence[tuple[str, str]] = [(link.columns[0], link.told), (link.told, link.columns[0])]
    if link.way is Way.COMPUTED:
        equation = Equation.fitted(*_sides(link, places))
        if equation is not None:
            yield Computed(link.columns, link.told, equation)
    elif link.way is Way.NEAR:
        yield from (_exact(known, told, places) or NearRange.of(known, told, places, seed) for known, told in pairs)
    else:
        for known, told in pairs if link.both else pairs[:1]:
            exact = _exact(known, told, places) if known in numeric and told in numeric else None
            yield exact or Function.of(known, told, places, numeric)


def _exact(known: str, told: str, places: Mapping[str, Floats]) -> Computed | None:
    """Return the equation of a number in terms of another, if it deviates by no more than the values are rounded."""
    numbers = as_numbers(places[told])
    equation = Equation.fitted(numbers, [as_numbers(places[known])])
    gaps = np.diff(np.unique(numbers[np.isfinite(numbers)]))
    if equation is None or equation.rest >= _ROUNDED * float(gaps.min(initial=np.inf)):
        return None
    return Computed((known,), told, equation)


def _sides(link: Link, places: Mapping[str, Floats]) -> tuple[Floats, list[Floats]]:
    return as_numbers(places[link.told]), [as_numbers(places[name]) for name in link.columns]


def _missing(places: Mapping[str, Floats]) -> Iterator[MissingTogether]:
    """Yield the pairs of columns whose values are missing together."""
    gaps = {name: values == MISSING for name, values in places.items()}
    number = {name: int(np.count_nonzero(gap)) for name, gap in gaps.items()}
    often = [name for name, gap in gaps.items() if _FEWEST <= number[name] <= len(gap) - _FEWEST]
    for first, other in combinations(often, 2):
        counts = np.bincount(2 * gaps[first] + gaps[other], minlength=4).reshape(2, 2)
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        seen = counts > np.where(expected >= _EXPECTED, _SOMETIMES * min(number[first], number[other]), -1)
        if not seen.all():
            yield MissingTogether((first, other), (tuple(seen[0].tolist()), tuple(seen[1].tolist())))


def _sums(places: Mapping[str, Floats], numeric: frozenset[str]) -> Iterator[Computed]:
    """Yield the numbers that are weighted sums of more than two others, such as the total of a score."""
    for name in sorted(numeric):
        trend = Trend.of(places, name, [other for other in sorted(numeric) if other != name])
        if trend is None or trend.leaves_rest:
            continue
        trend = trend.without_idle(places, float(np.nanstd(as_numbers(places[name]))))
        if len(trend.causes) > 2:
            rest = as_numbers(places[name]) - trend.sums(places)
            constant = float(np.nanmedian(rest))
            deviation = float(np.nanquantile(np.abs(rest - constant), _TAIL))
            yield Computed(trend.causes, name, Equation(trend.weights, constant, EquationForm.SUM, deviation))


def _ordered(places: Mapping[str, Floats], numeric: frozenset[str], seed: int) -> Iterator[Ordered]:
    """Yield the pairs of numbers whose order is always the same, although it would not be by chance."""
    rng = np.random.default_rng(seed)
    for first, other in permutations(sorted(numeric), 2):
        lower, upper = places[first], places[other]
        there = np.flatnonzero((lower > MISSING) & (upper > MISSING))
        if len(there) >= _FEWEST and (lower[there] <= upper[there]).all():
            by_chance = (lower[rng.permutation(there)] > upper[there]).sum()
            if by_chance >= _EXPECTED:
                yield Ordered(first, other)


def _never_together(places: Mapping[str, Floats], numeric: frozenset[str]) -> Iterator[NeverTogether]:
    """Yield the pairs of columns with values that never occur together, although that is expected often enough."""
    edges = {name: group_edges(values, is_numeric=name in numeric) for name, values in places.items()}
    edges = {name: bounds for name, bounds in edges.items() if 0 < len(bounds) < MOST_GROUPS}
    groups = {name: np.searchsorted(bounds, places[name], "right") for name, bounds in edges.items()}
    for first, other in combinations(edges, 2):
        sizes = len(edges[first]) + 1, len(edges[other]) + 1
        counts = np.bincount(groups[first] * sizes[1] + groups[other], minlength=sizes[0] * sizes[1]).reshape(sizes)
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(counts.sum(), 1)
        absent = (counts == 0) & (expected >= _EXPECTED)
        if absent.any():
            yield NeverTogether((first, other), (edges[first], edges[other]), absent)


def most_frequent(known: Floats, told: Floats) -> tuple[Floats, Floats]:
    """Return the ascending distinct values of one column, and the most frequent value of another beside each."""
    at, which = np.unique(known, return_inverse=True)
    values, place = np.unique(told, return_inverse=True)
    pairs, counts = np.unique(which * len(values) + place, return_counts=True)
    order = np.lexsort([-counts, pairs // len(values)])
    first = order[np.flatnonzero(np.diff(pairs[order] // len(values), prepend=-1))]
    return at, values[pairs[first] % len(values)]
