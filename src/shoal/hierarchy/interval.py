"""Intervals of numbers, with top and bottom coding."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.errors import HierarchyError
from shoal.hierarchy.hierarchy import Hierarchy, Labels, ladder
from shoal.hierarchy.spec import KINDS, Spec
from shoal.hierarchy.spread import of_numbers
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.scale import doubles

Number = Annotated[float, Field(allow_inf_nan=False)]
DecimalEnds: TypeAlias = tuple[Decimal | None, Decimal | None]  # None: unbounded on this side


@KINDS.register("interval")
class Interval(Spec):
    """Intervals of numbers that contain their lower bound: [a, b).

    ``widths``: one width per level, each a multiple of the one before. ``anchor``: a point at which an interval begins.
    ``cuts``: instead of widths, or for further levels, the lower bounds of intervals, a list per level, each a subset
    of the one before. ``bottom``: all values below form one interval. ``top``: all values from here on form one
    interval, such as 90 for "90+". Integers are labelled 20-29, other numbers [20, 30).

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> table = shoal.read({"age": [3, 17, 42, 97]})
    >>> bind(Interval(widths=[5, 20], bottom=10, top=90), table, "age").labels(1).to_pylist()
    ['<10', '15-19', '40-44', '90+']
    >>> bind(Interval(widths=[5, 20], top=90, cuts=[[20, 60]]), table, "age").labels(3).to_pylist()
    ['<20', '<20', '20-59', '60+']
    """

    kind: Literal["interval"] = "interval"
    widths: list[Number] = Field(
        default_factory=list,
        title="Interval widths",
        description="interval width of each level, every width a multiple of the previous one",
    )
    anchor: Number = Field(default=0, description="lower bound of one interval; the others follow from it")
    cuts: list[list[Number]] = Field(
        default_factory=list,
        description="lower bounds of the intervals of each level; after widths: of further levels",
    )
    bottom: Number | None = Field(
        default=None, title="Bottom coding", description="bottom coding: all values below form one interval"
    )
    top: Number | None = Field(
        default=None,
        title="Top coding",
        description="top coding: all values from here on form one interval, such as 90 for 90+",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.widths and not self.cuts:
            raise ValueError("requires either widths or cuts")
        if any(width <= 0 for width in self.widths):
            raise ValueError("widths must be positive")
        for fine, coarse in zip(self.widths, self.widths[1:], strict=False):
            if coarse <= fine or (Fraction(exact_decimal(coarse)) / Fraction(exact_decimal(fine))).denominator > 1:
                raise ValueError("each width must be a multiple of the previous one")
        for points in self.cuts:
            if not points or points != sorted(set(points)):
                raise ValueError("cuts must ascend and must not be empty")
        for fine_cuts, coarse_cuts in zip(self.cuts, self.cuts[1:], strict=False):
            if not set(coarse_cuts) <= set(fine_cuts):
                raise ValueError("the cuts of a level must be among those of the previous level")
        if self.bottom is not None and self.top is not None and self.bottom > self.top:
            raise ValueError("bottom must not be above top")
        return self

    @model_validator(mode="after")
    def _check_further(self) -> Self:
        if self.widths and not all(map(self._is_edge, self.cuts[0] if self.cuts else ())):
            raise ValueError("cuts after widths must be bounds of intervals of the last width, from bottom to top")
        return self

    def _is_edge(self, cut: float) -> bool:
        """Return whether an interval of the last width, or the top coding, begins at a cut."""
        if cut in {self.bottom, self.top}:
            return True
        steps = (Fraction(exact_decimal(cut)) - Fraction(exact_decimal(self.anchor))) / Fraction(
            exact_decimal(self.widths[-1])
        )
        inside = (self.bottom is None or cut > self.bottom) and (self.top is None or cut < self.top)
        return inside and steps.denominator == 1

    def build(self, column: Column, counts: NDArray[np.int64], folder: Path) -> Hierarchy:
        """Bind to a column of numbers."""
        del counts, folder
        if not column.kind.numeric and len(column.values):
            raise HierarchyError(
                "not-numeric",
                "Column '{column}' is of type {kind}. Intervals require numbers.",
                remedy="Choose another kind of hierarchy, such as auto. If the table is a release, give the original "
                "instead.",
                column=column.name,
                kind=column.kind,
            )
        values = doubles(column.values).to_numpy(zero_copy_only=False)
        if not np.isfinite(values).all():
            raise HierarchyError(
                "infinite-numbers",
                "Column '{column}' contains infinite numbers, which belong to no interval.",
                column=column.name,
            )
        whole = column.kind is Kind.INTEGER
        fine = [self._by_width(column, values, width, whole=whole) for width in self.widths]
        further = Interval(cuts=self.cuts) if self.widths and self.cuts else self  # further levels merge the tails
        return ladder(column, [*fine, *further.levels(values, whole=whole)])

    def levels(self, values: NDArray[np.float64], *, whole: bool) -> list[Labels]:
        """Return the labels of some values on each level that is given by cuts."""
        return [self._by_cuts(values, cuts, whole=whole) for cuts in self.cuts]

    def spread(self, labels: Sequence[str], folder: Path) -> NDArray[np.float64] | None:
        """Return the width of each interval relative to the range of all labels."""
        del folder
        return of_numbers(labels)

    def _by_cuts(self, values: NDArray[np.float64], cuts: list[float], *, whole: bool) -> Labels:
        places = np.searchsorted(cuts, values, side="right")
        edges = [None, *map(exact_decimal, cuts), None]
        ends = {place: (edges[place], edges[place + 1]) for place in set(places.tolist())}
        return self._labelled(values, places.tolist(), ends, whole=whole)

    def _by_width(self, column: Column, values: NDArray[np.float64], width: float, *, whole: bool) -> Labels:
        """Label values by intervals of equal width from the anchor, computed in floating point and corrected."""
        places = _steps(column, values, width, self.anchor)
        ends = {
            place: (_edge(place, width, self.anchor), _edge(place + 1, width, self.anchor)) for place in set(places)
        }
        return self._labelled(values, places, ends, whole=whole)

    def _labelled(
        self, values: NDArray[np.float64], places: Iterable[int], ends: Mapping[int, DecimalEnds], *, whole: bool
    ) -> Labels:
        """Label each value with its interval, clipped at bottom and top."""
        labels = {place: interval_label(*self._clipped(*interval), whole=whole) for place, interval in ends.items()}
        below = interval_label(None, exact_decimal(self.bottom), whole=whole) if self.bottom is not None else ""
        above = interval_label(exact_decimal(self.top), None, whole=whole) if self.top is not None else ""
        bottom, top = -np.inf if self.bottom is None else self.bottom, np.inf if self.top is None else self.top
        return [
            below if value < bottom else above if value >= top else labels[place]
            for value, place in zip(values.tolist(), places, strict=True)
        ]

    def _clipped(self, low: Decimal | None, high: Decimal | None) -> DecimalEnds:
        if self.bottom is not None:
            low = exact_decimal(self.bottom) if low is None else max(low, exact_decimal(self.bottom))
        if self.top is not None:
            high = exact_decimal(self.top) if high is None else min(high, exact_decimal(self.top))
        return low, high


def exact_decimal(number: float) -> Decimal:
    """Return the decimal with the shortest notation of a number."""
    return Decimal(str(number))


def _edge(place: int, width: float, anchor: float) -> Decimal:
    with localcontext(prec=400):  # more digits than the largest double
        return exact_decimal(anchor) + place * exact_decimal(width)


def _steps(column: Column, values: NDArray[np.float64], width: float, anchor: float) -> list[int]:
    """Return the number of the interval of each value, counted from the anchor.

    Values and bounds are compared as doubles. Both are rounded from their decimals, so 0.3 is in [0.3, 0.4) although
    0.3 / 0.1 is less than 3.
    """
    if column.kind is Kind.INTEGER and float(width).is_integer() and float(anchor).is_integer():
        return [(value - int(anchor)) // int(width) for value in column.values.to_pylist()]
    with np.errstate(over="ignore"):
        rough = np.floor((values - anchor) / width)
    if not np.isfinite(rough).all():
        raise HierarchyError(
            "intervals-too-narrow",
            "Intervals of width {width:g} are too narrow for column '{column}'.",
            width=width,
            column=column.name,
        )
    places = [int(place) for place in rough.tolist()]
    edges = {place: float(_edge(place, width, anchor)) for near in set(places) for place in (near, near + 1)}
    return [
        place - 1 if value < edges[place] else place + 1 if value >= edges[place + 1] else place
        for value, place in zip(values.tolist(), places, strict=True)
    ]


def interval_label(low: Decimal | None, high: Decimal | None, *, whole: bool) -> str:
    """Return the label of the interval from ``low`` to below ``high``; None: unbounded.

    >>> interval_label(Decimal(20), Decimal(30), whole=True), interval_label(Decimal(90), None, whole=True)
    ('20-29', '90+')
    """
    if low is None:
        return f"<{_plain(high)}"
    if high is None:
        return f"{_plain(low)}+" if whole and low >= 0 else f">={_plain(low)}"
    if whole and low >= 0 and low == int(low) and high == int(high):
        last = int(high) - 1
        return str(last) if last == low else f"{_plain(low)}-{last}"
    return f"[{_plain(low)}, {_plain(high)})"


def _plain(number: Decimal | None) -> str:
    text = format(number or Decimal(0), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
