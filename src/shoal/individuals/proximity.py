"""Proximity: numbers and dates within a tolerance count as equal.

An adversary who infers a cost within 100 has learned it, and one who knows an age within two years knows it well
enough. The paper names this extension as future work (Kroes 2021, discussion).
"""

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.errors import ColumnError
from shoal.kernels.subsets import Window
from shoal.table.column import Column
from shoal.table.kind import Kind


def window(column: Column, distance: Fraction) -> Window:
    """Return, for each value of a column, the values within a distance; dates are counted in days.

    Numbers are compared as written: 0.4 is within 0.1 of 0.3, regardless of their floating-point representation.

    >>> import shoal
    >>> near = window(shoal.read({"x": [0.3, 0.4, 0.9]})["x"], Fraction(1, 10))
    >>> near.lows.tolist(), near.highs.tolist()
    ([0, 0, 2], [1, 1, 2])
    """
    if not (column.kind.numeric or column.kind in {Kind.DATE, Kind.DATETIME}):
        raise ColumnError(
            "no-distance",
            "Column '{column}' is of type {kind}, which has no distances.",
            remedy="Tolerances and ranges apply to numbers and dates.",
            column=column.name,
            kind=column.kind,
        )
    if distance < 0:
        raise ColumnError("negative-distance", "The tolerance for column '{column}' is negative.", column=column.name)
    values = [number(value) for value in column.values.to_pylist()]
    codes = np.arange(column.size, dtype=np.uint32)  # missing and suppressed values agree with themselves only
    lows, highs = codes.copy(), codes.copy()
    low = high = 0
    for place, value in enumerate(values):
        while value - values[low] > distance:
            low += 1
        while high + 1 < len(values) and values[high + 1] - value <= distance:
            high += 1
        lows[place], highs[place] = low, high
    return Window(lows, highs)


def number(value: Any, otherwise: int = 0) -> Fraction:
    """Return a number as written, or the day of a date; ``otherwise`` for any other value.

    >>> number(0.1), number(date(1, 1, 2)), number("low", 7)
    (Fraction(1, 10), Fraction(2, 1), Fraction(7, 1))
    """
    if isinstance(value, datetime):
        seconds = 3600 * value.hour + 60 * value.minute + value.second
        return value.toordinal() + Fraction(1_000_000 * seconds + value.microsecond, 86_400_000_000)
    if isinstance(value, date):
        return Fraction(value.toordinal())
    if isinstance(value, float):
        return Fraction(Decimal(repr(value)))
    return Fraction(value) if isinstance(value, int | Decimal) else Fraction(otherwise)
