"""Labels that look like intervals: parsing, and checks against the values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import pairwise

from shoal.errors import HierarchyError
from shoal.remedy import ColumnSetting, either

_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_END = rf"(?:{_NUMBER}|[-+]?inf|[-+]?∞)"
_BRACKETED = re.compile(rf"([\[(\]])\s*({_END})\s*(?:[,;–-]|\.\.|to)\s*({_END})\s*([\])\[])")
_RANGE = re.compile(rf"({_NUMBER})\s*(?:[-–—]|\.\.|to|bis)\s*({_NUMBER})")
_BELOW = re.compile(rf"(<=?|≤|under|below)\s*({_NUMBER})")
_ABOVE = re.compile(rf"(>=?|≥|over|above)\s*({_NUMBER})")
_PLUS = re.compile(rf"({_NUMBER})\s*(?:\+|and (?:over|older|above|more))")


@dataclass(frozen=True, slots=True)
class Range:
    """An interval as stated by a label; None: unbounded on this side.

    ``dash``: it is written 20-30, and only the neighbouring labels determine whether it contains 30.
    """

    low: Decimal | None
    high: Decimal | None
    low_closed: bool = True
    high_closed: bool = True
    dash: bool = False

    def __contains__(self, number: Decimal) -> bool:
        above = self.low is None or (number >= self.low if self.low_closed else number > self.low)
        below = self.high is None or (number <= self.high if self.high_closed else number < self.high)
        return above and below

    def overlaps(self, other: "Range") -> bool:
        """Return whether a number could be in both intervals."""
        first, second = sorted((self, other), key=lambda part: (part.low is not None, part.low or 0))
        if first.high is None or second.low is None:
            return True
        if first.high == second.low:
            return first.high_closed and second.low_closed
        return first.high > second.low


def read_range(label: str) -> Range | None:
    """Parse the common notations of intervals; None if the label is not an interval.

    >>> read_range("[20, 30)").high_closed, read_range("20-29").high, read_range("90+").high, read_range("old")
    (False, Decimal('29'), None, None)
    """
    label = label.strip()
    if match := _BRACKETED.fullmatch(label):
        left, low, high, right = match.groups()
        begin, end = (Decimal(end) if end[-1].isdigit() else None for end in (low, high))
        return Range(begin, end, low_closed=left == "[" or begin is None, high_closed=right == "]" or end is None)
    if match := _RANGE.fullmatch(label):
        return Range(Decimal(match[1]), Decimal(match[2]), dash=True)
    if match := _BELOW.fullmatch(label):
        return Range(None, Decimal(match[2]), high_closed=match[1] in {"<=", "≤"})
    if match := _ABOVE.fullmatch(label):
        return Range(Decimal(match[2]), None, low_closed=match[1] in {">=", "≥"})
    if match := _PLUS.fullmatch(label):
        return Range(Decimal(match[1]), None)
    return None


def check_intervals(name: str, level: int, leaves: Sequence[str], labels: Sequence[str | None]) -> None:
    """Refuse incorrect labels: intervals that do not contain their values, or that overlap."""
    ranges = {label: range_ for label in labels if label is not None and (range_ := read_range(label)) is not None}
    wrong = sum(
        label in ranges and (number := read_number(leaf)) is not None and number not in ranges[label]
        for leaf, label in zip(leaves, labels, strict=True)
        if label is not None
    )
    remedy = either("Correct the labels", ColumnSetting("hierarchy.check_labels", False))
    if wrong:
        raise HierarchyError(
            "outside-interval",
            "On level {level} of the hierarchy of column '{column}', {values:value} lie outside the interval that "
            "labels them.",
            remedy=remedy,
            level=level,
            column=name,
            values=wrong,
        )
    ordered = sorted(ranges.values(), key=lambda part: (part.low is not None, part.low or 0))
    overlaps = sum(range_.overlaps(other) for range_, other in pairwise(ordered))
    if overlaps:
        raise HierarchyError(
            "overlapping-labels",
            "On level {level} of the hierarchy of column '{column}', {labels:label} overlap.",
            remedy=remedy,
            level=level,
            column=name,
            labels=overlaps,
        )


def read_number(text: str) -> Decimal | None:
    """Parse a number exactly; None if the text is not a finite number."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
