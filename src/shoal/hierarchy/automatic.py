"""Automatic hierarchies: a suitable hierarchy for a column, proposed from its values and its name."""

import math
import re
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.errors import HierarchyError
from shoal.hierarchy.date import Date, read_day
from shoal.hierarchy.frequency import Frequency
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.hierarchy.icd10 import Icd10, steps
from shoal.hierarchy.interval import Interval
from shoal.hierarchy.order import Order
from shoal.hierarchy.prefix import Prefix
from shoal.hierarchy.spec import KINDS, Spec
from shoal.hierarchy.suppression import Suppression
from shoal.remedy import Option, by, either
from shoal.table.column import Column, as_text
from shoal.table.kind import Kind
from shoal.table.scale import doubles

_AGE = re.compile(r"(^|_|\b)(age|alter|âge|leeftijd|edad)(_|\b|$)", re.IGNORECASE)
_POSTCODE = re.compile(r"zip|postal|post_?code|plz|postleitzahl|code_?postal|codigo_?postal", re.IGNORECASE)
_YEAR = re.compile(r"year|jahr|année|annee|jaar|año|ano", re.IGNORECASE)
_ATC = re.compile(r"[A-Z]\d\d[A-Z]{2}\d\d")
_CODE = re.compile(r"(?=.*\d)[A-Za-z0-9.\-/]{3,}")
_FIRST_YEAR, _LAST_YEAR = 1800, 2200
_WRITTEN_DATES = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y%m%d")


@KINDS.register("auto")
class Automatic(Spec):
    """A hierarchy chosen by the values of the column.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> table = shoal.read({"age": [34, 71]})
    >>> bind(Automatic(), table, "age").labels(1).to_pylist()
    ['30-34', '70-74']
    """

    kind: Literal["auto"] = "auto"

    @property
    def of_data(self) -> bool:
        """Whether labels depend on other values: widths and lengths are derived from all values of the column."""
        return True

    def resolved(self, column: Column) -> Spec:
        """Return the proposed kind of hierarchy."""
        return propose(column)

    def build(self, column: Column, counts: NDArray[np.int64], folder: Path) -> Hierarchy:
        """Propose a hierarchy and bind it to a column; infinite numbers are refused."""
        if column.kind is Kind.NUMBER and not np.isfinite(doubles(column.values).to_numpy(zero_copy_only=False)).all():
            raise HierarchyError(
                "infinite-numbers",
                "Column '{column}' contains infinite numbers, which belong to no interval.",
                remedy=either(by("Read them as missing", Option("markers", ["inf"])), "give the column a hierarchy"),
                column=column.name,
            )
        return propose(column).build(column, counts, folder)


def propose(column: Column, *, nominal: bool = False) -> Spec:
    """Return the kind of hierarchy that suits a column, with its parameters. ``nominal``: numbers have no order.

    >>> import pyarrow as pa
    >>> column = Column("plz", Kind.TEXT, pa.array(["01067", "10115"]))
    >>> propose(column).toml()
    '{ kind = "prefix", keep = [3, 2, 1], length = 5 }'
    """
    if column.kind in {Kind.DATE, Kind.DATETIME}:
        return Date()
    if len(column.values) == 0 or column.kind is Kind.BOOLEAN:
        return Suppression()
    if column.kind.numeric:
        return _for_categories(len(column.values)) if nominal else _for_numbers(column)
    if column.kind is Kind.CATEGORY:
        return _for_grades(as_text(column.values).to_pylist())
    if column.kind is Kind.TIME:
        return Suppression()
    return _for_text(column)


def _for_numbers(column: Column) -> Spec:
    low, high = float(column.values[0].as_py()), float(column.values[-1].as_py())
    if _POSTCODE.search(column.name) and column.kind is Kind.INTEGER:
        length = len(str(column.values[-1].as_py()))
        return Prefix(keep=_shortening(length), length=length)
    if _AGE.search(column.name) and low >= 0 and high <= 130:
        return Interval(widths=[5, 10, 20], top=90)
    if column.kind is Kind.INTEGER and _YEAR.search(column.name) and low >= 1000 and high <= 9999:
        return Date()
    if len(column.values) <= 2 or not math.isfinite(high - low):
        return Suppression()
    if column.kind is Kind.INTEGER and high - low <= 20:
        return Interval(widths=[2, 4] if high - low > 4 else [2])
    return Interval(widths=_widths(high - low))


def _for_grades(grades: list[str]) -> Spec:
    """Group adjacent grades in twos, then in fours; the order is stored, so that it stays the same for other data."""
    sizes = [size for size in (2, 4) if size < len(grades)]
    return Order(sizes=sizes, order=grades) if sizes else Suppression()


def _widths(span: float) -> list[float]:
    """Return up to three round widths, the smallest of which divides the span into about twenty intervals."""
    rough = span / 20
    power = 10.0 ** math.floor(math.log10(rough))
    factor = next(step for step in (1, 2, 5, 10) if rough <= step * power * 1.0001)
    steps_up = {1: (1, 5, 10), 2: (2, 10, 20), 5: (5, 10, 50), 10: (10, 50, 100)}[factor]
    widths = [float(f"{step * power:.12g}") for step in steps_up]
    return [width for width in widths if width < span] or widths[:1]


def _for_text(column: Column) -> Spec:
    values = as_text(column.values).to_pylist()
    if all(read_day(value, None) for value in values) and not all(map(_is_other_number, values)):
        return Date()
    fitting = [pattern for pattern in _WRITTEN_DATES if all(read_day(value, pattern) for value in values)]
    if len(fitting) == 1:  # not if the order of day and month is ambiguous
        return Date(format=fitting[0])
    if all(_ATC.fullmatch(value) for value in values):
        return Prefix(code="atc")
    if all(steps(value, "who") for value in values):
        return Icd10()
    length = len(values[0]) if len({len(value) for value in values}) == 1 else None
    if length and length > 2 and (_POSTCODE.search(column.name) or all(map(_CODE.fullmatch, values))):
        return Prefix(keep=_shortening(length), length=length)
    return _for_categories(len(values))


def _is_other_number(text: str) -> bool:
    """Return whether a text of digits is too small or too large for a year in health data."""
    return text.isdigit() and not _FIRST_YEAR <= int(text) <= _LAST_YEAR


def _shortening(length: int) -> list[int]:
    """Return the numbers of characters to keep: three fifths of a code, then ever fewer."""
    first = max(1, round(length * 0.6))
    return list(range(first, 0, -1))[:3] if first <= 3 else [first, max(1, first // 2), 1]


def _for_categories(number: int) -> Spec:
    """Keep the most frequent categories, if there are enough of them, about halving their number with each level."""
    steps_down = [keep for keep in (50, 20, 10, 5, 2) if keep < number]
    return Frequency(keep=steps_down[-3:]) if steps_down else Suppression()
