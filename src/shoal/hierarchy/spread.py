"""Spread: the share of the domain that a released label covers, derived from the labels of a column alone.

A recipient can compute it without the original. The domain of numbers and dates is the range of all labels.
"""

import re
from collections.abc import Sequence
from datetime import date
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.labels import read_number, read_range

Ends: TypeAlias = tuple[float, float]
_PERIOD = re.compile(r"(\d{4})(?:-Q([1-4])|-(\d{2})(?:-(\d{2})(?:[T ].*)?)?)?")
_YEARS = re.compile(r"(\d{4})-(\d{4})")
_SIDE = re.compile(r"(before|after) (\d{4})")


def of_numbers(labels: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the width of each number or interval relative to the range of all; None if a label is neither.

    An open-ended interval has the width of the widest closed one or, if there is none, that of the range.

    >>> of_numbers(["30-39", "71", "90+"]).round(3).tolist()
    [0.13, 0.0, 0.13]
    """
    return _relative([_number_ends(label) for label in labels])


def of_dates(labels: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the length of each date or period in days, relative to the range of all; None if a label is neither.

    >>> of_dates(["2019", "2020-02", "2020-12-31"]).round(3).tolist()
    [0.499, 0.038, 0.0]
    """
    return _relative([_day_ends(label) for label in labels])


def _relative(ends: Sequence[Ends | None]) -> NDArray[np.float64] | None:
    known = [pair for pair in ends if pair is not None]
    if len(known) < len(ends) or not known:
        return None
    pairs = np.array(known, np.float64)
    closed = np.isfinite(pairs).all(axis=1)
    widest = np.diff(pairs[closed], axis=1).max(initial=0.0)
    pairs = np.where(np.isfinite(pairs), pairs, pairs[:, ::-1] + np.array([-widest, widest]))  # as wide as the widest
    low, high = pairs.min(), pairs.max()
    widths = np.diff(pairs, axis=1)[:, 0] / (high - low if high > low else 1.0)
    return np.where(closed, widths, widths if widest else 1.0)


def _number_ends(label: str) -> Ends | None:
    number = read_number(label)
    if number is not None:
        return float(number), float(number)
    stated = read_range(label)
    if stated is None:
        return None
    low = -np.inf if stated.low is None else float(stated.low)
    high = np.inf if stated.high is None else float(stated.high)
    return (low, high) if low <= high else None


def _day_ends(label: str) -> Ends | None:
    """Return the first and last day of a period, in days since the year 1; None if the label is not a period."""
    try:
        if match := _PERIOD.fullmatch(label):
            year, quarter, month, day = (int(part or 0) for part in match.groups())
            first, last = (3 * quarter - 2, 3 * quarter) if quarter else (month or 1, month or 12)
            begin = date(year, first, day or 1).toordinal()
            return begin, begin if day else _month_end(year, last)
        if match := _YEARS.fullmatch(label):
            return date(int(match[1]), 1, 1).toordinal(), _month_end(int(match[2]), 12)
        if match := _SIDE.fullmatch(label):
            year = int(match[2])
            return (-np.inf, _month_end(year - 1, 12)) if match[1] == "before" else (_month_end(year, 12) + 1, np.inf)
    except ValueError:  # for example month 13 or year 0
        return None
    return None


def _month_end(year: int, month: int) -> int:
    return date(year + month // 12, month % 12 + 1, 1).toordinal() - 1
