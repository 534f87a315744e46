"""Intervals of numbers, with top and bottom coding."""

from decimal import Decimal
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.errors import HierarchyError
from shoal.hierarchy.hierarchy import Hierarchy, Labels, ladder
from shoal.hierarchy.spec import KINDS, Spec
from shoal.table.column import Column
from shoal.table.kind import Kind


@KINDS.register("interval")
class Interval(Spec):
    """Numbers in intervals that contain their lower end: [a, b).

    ``widths``: one level for each, every width a multiple of the one before; ``anchor``: where an interval begins.
    ``cuts``: instead, the points where intervals begin, a list for each level, each a subset of the one before.
    ``bottom``: all below is one interval; ``top``: so is all from here on, such as 90 for "90+".
    Integers are labelled 20-29, other numbers [20, 30).

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> table = shoal.read({"age": [3, 17, 42, 97]})
    >>> bind(Interval(widths=[5, 20], bottom=10, top=90), table, "age").labels(1).to_pylist()
    ['<10', '15-19', '40-44', '90+']
    """

    kind: Literal["interval"] = "interval"
    widths: list[float] = Field(default_factory=list)
    anchor: float = 0
    cuts: list[list[float]] = Field(default_factory=list)
    bottom: float | None = None
    top: float | None = None
    summary = "numbers in intervals of growing width, with 90+ where wanted"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.widths) == bool(self.cuts):
            raise ValueError("give either widths or cuts")
        if any(width <= 0 for width in self.widths):
            raise ValueError("widths must be positive")
        for fine, coarse in zip(self.widths, self.widths[1:], strict=False):
            if coarse <= fine or _exact(coarse) % _exact(fine):
                raise ValueError("each width must be a multiple of the one before")
        for points in self.cuts:
            if not points or points != sorted(set(points)):
                raise ValueError("cuts must ascend and must not be empty")
        for fine_cuts, coarse_cuts in zip(self.cuts, self.cuts[1:], strict=False):
            if not set(coarse_cuts) <= set(fine_cuts):
                raise ValueError("the cuts of a level must be among those of the level before")
        if self.bottom is not None and self.top is not None and self.bottom > self.top:
            raise ValueError("bottom must not be above top")
        return self

    def build(self, column: Column, counts: NDArray[np.int64], folder: Path) -> Hierarchy:
        """Bind to a column of numbers."""
        del counts, folder
        if not column.kind.numeric and len(column.values):
            raise HierarchyError(
                f"Column '{column.name}' holds {column.kind}, but intervals are of numbers.",
                hint='Use another kind of hierarchy, such as "auto".',
            )
        numbers = [Decimal(str(value)) for value in column.values.to_pylist()]
        finite = [number for number in numbers if number.is_finite()]
        if len(finite) < len(numbers):
            raise HierarchyError(f"Column '{column.name}' holds infinite numbers, which are in no interval.")
        whole = column.kind is Kind.INTEGER
        edges = self.cuts or self.widths
        return ladder(column, [self._labels(numbers, edge, whole=whole) for edge in edges])

    def _labels(self, numbers: list[Decimal], edge: list[float] | float, *, whole: bool) -> Labels:
        return [_label(*self._interval(number, edge), whole=whole) for number in numbers]

    def _interval(self, number: Decimal, edge: list[float] | float) -> tuple[Decimal | None, Decimal | None]:
        """Return the ends of the interval of a number; None: no end. Decimal, for 0.3 is in [0.3, 0.4)."""
        low, high = _between(number, edge) if isinstance(edge, list) else _step(number, edge, self.anchor)
        if self.bottom is not None:
            bottom = _exact(self.bottom)
            if number < bottom:
                return None, bottom
            low = bottom if low is None else max(low, bottom)
        if self.top is not None:
            top = _exact(self.top)
            if number >= top:
                return top, None
            high = top if high is None else min(high, top)
        return low, high


def _exact(number: float) -> Decimal:
    return Decimal(str(number))


def _step(number: Decimal, width: float, anchor: float) -> tuple[Decimal | None, Decimal | None]:
    step, start = _exact(width), _exact(anchor)
    low = start + (number - start) // step * step
    if low > number:  # // rounds towards zero
        low -= step
    return low, low + step


def _between(number: Decimal, cuts: list[float]) -> tuple[Decimal | None, Decimal | None]:
    points = [_exact(cut) for cut in cuts]
    below = [point for point in points if point <= number]
    above = [point for point in points if point > number]
    return (below[-1] if below else None), (above[0] if above else None)


def _label(low: Decimal | None, high: Decimal | None, *, whole: bool) -> str:
    if low is None and high is None:
        return "any"
    if low is None:
        return f"<{_plain(high)}"
    if high is None:
        return f"{_plain(low)}+" if whole and low >= 0 else f">={_plain(low)}"
    if whole and low >= 0 and low == int(low) and high is not None and high == int(high):
        last = int(high) - 1
        return str(last) if last == low else f"{_plain(low)}-{last}"
    return f"[{_plain(low)}, {_plain(high)})"


def _plain(number: Decimal | None) -> str:
    text = format(number or Decimal(0), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
