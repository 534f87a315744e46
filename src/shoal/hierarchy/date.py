"""Dates: day → month → quarter → year → decade."""

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Literal, Self, TypeAlias

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.errors import HierarchyError
from shoal.hierarchy.hierarchy import Hierarchy, ladder
from shoal.hierarchy.spec import KINDS, Spec, refuse_unknown
from shoal.hierarchy.spread import of_dates
from shoal.remedy import ColumnSetting
from shoal.table.column import Column, as_text
from shoal.table.kind import Kind

DateUnit: TypeAlias = Literal["day", "month", "quarter", "year", "decade"]
UNITS: tuple[DateUnit, ...] = ("day", "month", "quarter", "year", "decade")

# Year, month and day; the month or day of a partial date is 0.
Day: TypeAlias = tuple[int, int, int]
_PARTIAL = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ].*)?)?)?")


@KINDS.register("date")
class Date(Spec):
    """Dates with decreasing precision.

    ``units``: the levels, from fine to coarse. ``format``: the format of dates in a text column, such as ``%d.%m.%Y``;
    not needed for ISO dates, which may be partial (2019, 2019-05). ``earliest``, ``latest``: all dates before or after
    these years form one group, as required for birth years of persons over 89. ``unknown``: the treatment of text that
    is not a date: "refuse" or "suppress".

    >>> import shoal
    >>> from datetime import date
    >>> from shoal.hierarchy.spec import bind
    >>> hierarchy = bind(Date(), shoal.read({"born": [date(1958, 5, 17)]}), "born")
    >>> [hierarchy.labels(level)[0].as_py() for level in range(6)]
    ['1958-05-17', '1958-05', '1958-Q2', '1958', '1950-1959', '*']
    """

    kind: Literal["date"] = "date"
    units: list[DateUnit] = Field(
        default_factory=list, description=f"units of the levels, ascending: {', '.join(UNITS)} (default: all)"
    )
    format: str | None = Field(
        default=None, title="Date format", description="format of dates in text columns, such as %d.%m.%Y"
    )
    earliest: int | None = Field(
        default=None, title="First year", description="bottom coding: dates before this year share one label"
    )
    latest: int | None = Field(
        default=None, title="Last year", description="top coding: dates after this year share one label"
    )
    unknown: Literal["refuse", "suppress"] = Field(
        default="refuse", title="Unknown values", description="treatment of text that is not a date"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.units != sorted(self.units, key=UNITS.index) or len(set(self.units)) < len(self.units):
            raise ValueError(f"units must ascend, in this order: {', '.join(UNITS)}")
        if self.format is not None and "%Y" not in self.format:
            raise ValueError("format must contain %Y, the year with four digits")
        if self.format is not None and not _is_format(self.format):
            raise ValueError("format must be valid for strptime, such as %d.%m.%Y")
        if self.earliest is not None and self.latest is not None and self.earliest > self.latest:
            raise ValueError("earliest must not be after latest")
        return self

    def build(self, column: Column, counts: NDArray[np.int64], folder: Path) -> Hierarchy:
        """Bind to a column of dates, or of text that contains dates."""
        del folder
        days = self._days(column)
        unknown = [day is None for day in days]
        if self.unknown == "refuse":
            refuse_unknown(column, counts, unknown, "are no dates", 'Say how they are written: format = "%d.%m.%Y"')
        known = [day or (0, 0, 0) for day in days]
        rungs = [[self._label(day, unit) for day in known] for unit in self._units(column)]
        return ladder(column, rungs, unknown)

    def spread(self, labels: Sequence[str], folder: Path) -> NDArray[np.float64] | None:
        """Return the length of each period relative to the range of all labels."""
        del folder
        return of_dates(labels)

    def with_units(self, column: Column) -> "Date":
        """Return the hierarchy with the units of its levels for a column stated explicitly."""
        return self.model_copy(update={"units": self._units(column)})

    def _units(self, column: Column) -> list[DateUnit]:
        if self.units:
            return self.units
        years = column.kind is Kind.INTEGER and self.format is None
        first = "decade" if years else "day" if column.kind is Kind.DATETIME else "month"
        return list(UNITS[UNITS.index(first) :])

    def _days(self, column: Column) -> list[Day | None]:
        if column.kind in {Kind.DATE, Kind.DATETIME}:
            parts = (pc.year(column.values), pc.month(column.values), pc.day(column.values))
            return list(zip(*(part.to_pylist() for part in parts), strict=True))
        if column.kind in {Kind.TEXT, Kind.CATEGORY} or (column.kind is Kind.INTEGER and self.format):
            return [read_day(text, self.format) for text in as_text(column.values).to_pylist()]
        if column.kind is Kind.INTEGER:
            return [(value, 0, 0) if 1000 <= value <= 9999 else None for value in column.values.to_pylist()]
        raise HierarchyError(
            "not-dates",
            "The date hierarchy of column '{column}' does not fit: the column is of type {kind}.",
            remedy=ColumnSetting("hierarchy.kind", "interval"),
            column=column.name,
            kind=column.kind,
        )

    def _label(self, day: Day, unit: DateUnit) -> str:
        if self.earliest is not None and day[0] < self.earliest:
            return f"before {self.earliest}"
        if self.latest is not None and day[0] > self.latest:
            return f"after {self.latest}"
        return self._decade(day[0]) if unit == "decade" else _LABELS[unit](day)

    def _decade(self, year: int) -> str:
        """Return the label of a decade, restricted to the years from the earliest to the latest."""
        first, last = year // 10 * 10, year // 10 * 10 + 9
        first, last = max(first, self.earliest or first), min(last, self.latest or last)
        return f"{first:04}" if first == last else f"{first:04}-{last:04}"


def _is_format(pattern: str) -> bool:
    """Return whether a date written in a format can be read in the same format."""
    try:
        datetime.strptime(date(2000, 12, 31).strftime(pattern), pattern)  # noqa: DTZ007 - only the day matters
    except (ValueError, re.error):
        return False
    return True


def _has_month(pattern: str) -> bool:
    return bool(re.search(r"%[-#]?[mbBjxcDFUWV]", pattern))


def _has_day(pattern: str) -> bool:
    return bool(re.search(r"%[-#]?[djxcDFaAuw]", pattern))


def read_day(text: str, pattern: str | None) -> Day | None:
    """Return the year, month and day of a text, which is in a given format or a possibly partial ISO date.

    Unknown months and days are 0. None if the text is not a date.

    >>> read_day("17.05.1958", "%d.%m.%Y"), read_day("1958-05", None), read_day("soon", None)
    ((1958, 5, 17), (1958, 5, 0), None)
    >>> read_day("1958", "%Y")
    (1958, 0, 0)
    """
    if pattern is not None:
        try:
            moment = datetime.strptime(text.strip(), pattern)  # noqa: DTZ007 - only the day matters
        except ValueError:
            return None
        return moment.year, moment.month * _has_month(pattern), moment.day * _has_day(pattern)
    match = _PARTIAL.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day = (int(part or 0) for part in match.groups())
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return None
    return year, month, day


def _month(day: Day) -> str:
    return f"{day[0]:04}-{day[1]:02}" if day[1] else _year(day)


def _quarter(day: Day) -> str:
    return f"{day[0]:04}-Q{(day[1] + 2) // 3}" if day[1] else _year(day)


def _year(day: Day) -> str:
    return f"{day[0]:04}"


_LABELS: dict[str, Callable[[Day], str]] = {
    "day": lambda day: f"{day[0]:04}-{day[1]:02}-{day[2]:02}" if day[2] else _month(day),
    "month": _month,
    "quarter": _quarter,
    "year": _year,
}
