"""Numbers that represent other values: means, rounded values, dates set to the first of the month.

A number that differs from the original value of its record may still be true, if the whole column was treated in the
same way. This is therefore decided for whole columns. Noise may hit the mean of some records by chance, but some number
is always too far from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.spread import Ends
from shoal.recoding.nodes import Domain, Floats, Ints
from shoal.table.kind import Kind

_TINY = 1e-9  # tolerance for floating-point errors, as a share of the unit


@dataclass(frozen=True, slots=True, eq=False)
class ShownNumbers:
    """Pairs of an original value and a released number.

    ``counts[i]`` records, or persons, with the original value ``was[i]``, as its position on the scale, show
    ``texts[i]``.
    ``numbers[text]``: the texts as numbers. ``exact[i]``: whether a pair shows its original value.
    """

    was: Floats
    texts: Ints
    counts: Ints | Floats
    numbers: Floats
    exact: NDArray[np.bool_]

    @classmethod
    def of(  # noqa: PLR0913, PLR0917 - the fields
        cls, domain: Domain, codes: Ints, texts: Ints, counts: Ints | Floats, numbers: Floats, exact: Ints
    ) -> "ShownNumbers":
        """Select the pairs that show numbers."""
        places = np.full(domain.codes, np.nan) if domain.positions is None else domain.positions
        usable = ~np.isnan(numbers[texts]) & ~np.isnan(places[codes])
        return cls(places[codes[usable]], texts[usable], counts[usable], numbers, (exact[texts] == codes)[usable])

    @property
    def steady(self) -> bool:
        """Whether equal values are always shown as the same number."""
        return len(np.unique(self.was)) == len(np.unique(np.stack([self.was, self.numbers[self.texts]]), axis=1).T)


MOST = 0.5  # share of numbers that must be means, if they have more decimals than the values
FEWER = 0.7  # maximum ratio of numbers to values, if they have no more decimals
FITTING = 0.95  # share of records that must follow the same rounding


def averaged(shown: ShownNumbers, written: Sequence[str], own: int) -> bool:
    """Return whether the numbers are the means, medians or mid-ranges of the original values of their records.

    ``own``: the number of decimals of the original. Numbers without additional decimals may equal a mean by chance, for
    example after swapping or noise. They must then be fewer than the values, and all must fit.

    >>> import numpy as np
    >>> was, texts = np.array([1.0, 1.0, 5.0, 9.0]), np.array([0, 0, 0, 1])
    >>> shown = ShownNumbers(was, texts, np.ones(4, int), np.array([2.33, 9.0]), np.array([False] * 3 + [True]))
    >>> averaged(shown, ["2.33", "9.0"], own=0)
    True
    """
    texts, at = np.unique(shown.texts, return_inverse=True)
    sought = np.bincount(at, ~shown.exact) > 0
    several = sought & (np.bincount(at) > 1)
    if not several.any():
        return False
    decimals = np.array([len(written[text].partition(".")[2].rstrip("0")) for text in texts.tolist()])
    numbers = shown.numbers[texts]
    near = 0.5 * 10.0**-decimals + 1e-12 * np.abs(numbers)
    mean, median, middle = _middles(shown, at, len(texts))
    ways = (mean, middle, *([median] if shown.steady else []))  # after noise, unchanged records fix the median
    hits = [np.abs(way - numbers) <= near for way in ways]
    if decimals.max() > own:  # no chance hits are that exact; suppression may have shifted some means
        return any(hit[several].mean() >= MOST for hit in hits)
    fewer = len(texts) <= FEWER * len(np.unique(shown.was))
    return fewer and any(hit[sought].all() for hit in hits)


def cut_off(shown: ShownNumbers) -> bool:
    """Return whether the column is top or bottom coded: 85 for 85 and more.

    Only the smallest and the largest number may represent other values, which are beyond them.
    """
    numbers = shown.numbers[shown.texts]
    if not len(numbers) or not shown.steady:
        return False
    low, high = numbers.min(), numbers.max()
    top, bottom = ((numbers == end) & ~shown.exact for end in (high, low))
    if low == high and not (shown.was <= low).all():
        bottom = np.zeros(len(bottom), bool)
    beyond = (top & (shown.was > high)) | (bottom & (shown.was < low))
    own = np.isin(shown.texts, shown.texts[shown.exact])  # the number is the original value of some record
    return bool(beyond.any() and (shown.exact | (beyond & own)).all())


def _middles(shown: ShownNumbers, at: Ints, number: int) -> tuple[Floats, Floats, Floats]:
    """Return the mean, the median and the mid-range of the values of each text."""
    whole = np.bincount(at, shown.counts, number)
    mean = np.bincount(at, shown.counts * shown.was, number) / whole
    order = np.lexsort((shown.was, at))
    starts = np.searchsorted(at[order], np.arange(number))
    running = np.cumsum(shown.counts[order])
    before = running[starts] - shown.counts[order][starts]
    halves = [shown.was[order][np.searchsorted(running, before + whole / 2, side)] for side in ("left", "right")]
    values = shown.was[order]
    ends = values[starts], values[np.append(starts[1:], len(values)) - 1]
    return mean, (halves[0] + halves[1]) / 2, (ends[0] + ends[1]) / 2


@dataclass(frozen=True, slots=True)
class Rounding:
    """Rounding to multiples of ``unit``: a number represents values from ``below`` to ``above`` units away from it."""

    unit: float
    below: float
    above: float

    def ends(self, number: float) -> Ends:
        """Return the interval of values that are rounded to a number."""
        return number + (self.below - _TINY) * self.unit, number + (self.above + _TINY) * self.unit


@dataclass(frozen=True, slots=True)
class Period:
    """Truncation of dates: one day represents its whole month or year. ``unit`` is M or Y."""

    unit: str

    def ends(self, number: float) -> Ends:
        """Return the first and the last moment of the period that contains a day."""
        begin = np.datetime64(int(np.floor(number)), "D").astype(f"datetime64[{self.unit}]")
        first, after = (float((begin + step).astype("datetime64[D]").astype(np.int64)) for step in (0, 1))
        return first, after - _TINY


# Rounding to the nearest, down, up: lower and upper bound in units, and whether each is included.
_WAYS = ((-0.5, 0.5, True, True), (0.0, 1.0, True, False), (-1.0, 0.0, False, True))


def rounded(domain: Domain, shown: ShownNumbers, written: Sequence[str]) -> Rounding | Period | None:
    """Return the common rounding of the numbers to a unit larger than that of the original; None if there is none.

    At least the share ``FITTING`` of the records must follow a rounding. Dates must all follow a period.

    >>> import numpy as np
    >>> import shoal
    >>> domain = Domain.of(shoal.read({"age": [31, 34, 38, 41]})["age"])
    >>> was, texts = np.array([31.0, 34.0, 38.0, 41.0]), np.array([0, 0, 1, 1])
    >>> shown = ShownNumbers(was, texts, np.ones(4, int), np.array([30.0, 40.0]), np.zeros(4, bool))
    >>> rounded(domain, shown, ["30", "40"])
    Rounding(unit=10.0, below=-0.5, above=0.5)
    """
    if shown.exact.all():
        return None
    numbers = shown.numbers[shown.texts]
    if not domain.column.kind.numeric:
        return _period(domain, shown.was, numbers)
    unit, own = _unit(numbers, written), _unit(shown.was, domain.column.labels().drop_null().to_pylist())
    if unit is None or (own is not None and unit <= own):
        return None
    apart = (shown.was - numbers) / unit
    for below, above, with_below, with_above in _WAYS:
        low = apart >= below - _TINY if with_below else apart > below + _TINY
        high = apart <= above + _TINY if with_above else apart < above - _TINY
        if shown.counts[low & high].sum() >= FITTING * shown.counts.sum():
            return Rounding(unit, below + (not with_below) * 2 * _TINY, above - (not with_above) * 2 * _TINY)
    return None


def _period(domain: Domain, was: Floats, shown: Floats) -> Period | None:
    if domain.column.kind not in {Kind.DATE, Kind.DATETIME} or not len(was):
        return None
    days = [np.floor(part).astype(np.int64).astype("datetime64[D]") for part in (was, shown)]
    months = days[1].astype("datetime64[M]")
    day = (days[1] - months.astype("datetime64[D]")).astype(np.int64)
    month = (months - days[1].astype("datetime64[Y]").astype("datetime64[M]")).astype(np.int64)
    for unit, same in (("M", (day == day[0]).all()), ("Y", ((day == day[0]) & (month == month[0])).all())):
        periods = [part.astype(f"datetime64[{unit}]") for part in days]
        if same and (periods[0] == periods[1]).all():
            return Period(unit)
    return None


def _unit(numbers: Floats, written: Sequence[str]) -> float | None:
    """Return the largest number of which all are multiples.

    None for fewer than two different numbers, more than six decimals, or numbers too large for exact arithmetic.
    """
    different = np.unique(numbers)
    decimals = max((len(text.partition(".")[2].rstrip("0")) for text in written), default=0)
    if len(different) < 2 or decimals > 6 or np.abs(different).max() * 10.0**decimals > 2**53:
        return None
    whole = np.rint(different * 10.0**decimals).astype(np.int64)
    divisor = int(np.gcd.reduce(whole))
    return float(Fraction(divisor, 10**decimals)) if divisor else None
