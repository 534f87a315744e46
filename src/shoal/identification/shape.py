"""The shape of a column: the form and the pattern of its values, independent of its name."""

import re
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.hierarchy.automatic import propose
from shoal.hierarchy.date import Date
from shoal.hierarchy.icd10 import Icd10
from shoal.hierarchy.prefix import Prefix
from shoal.hierarchy.spec import Spec
from shoal.identification.patterns.pattern import PATTERNS, Pattern
from shoal.identification.sentences import MOST_VALUES, is_free_text
from shoal.identification.value_kind import ValueKind, value_kind
from shoal.table.column import Column, as_text
from shoal.table.kind import Kind

_FEWEST = 3  # minimum number of values that match a pattern with a checksum
_MOSTLY = 0.9  # minimum share of values that match, such as dates or measurements
_SHARED = 0.2  # maximum ratio of distinct codes to records, if they are long and without a point
_DAY = r"(?:\d{1,2}|\d{4})[./\-]\d{1,2}[./\-](?:\d{1,2}|\d{4})|\d{1,2}\.?[ \-]\p{L}{3,9}\.?[ \-]\d{2,4}|\d{1,2}/\d{4}"
_DATED = rf"^\s*(?:{_DAY})(?:[ T]\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\.\d+)?(?:Z|[+\-]\d{{2}}:?\d{{2}})?)?\s*$"
_PAIR, _UNIT = r"\d{1,3}\s*/\s*\d{1,3}", r"[<>≤≥]?\s*\d{1,5}(?:[.,]\d+)?\s[\p{L}µ%°/²³0-9.]{1,12}"
_MEASURED = rf"^\s*(?:{_PAIR}|{_UNIT})\s*$"
_ICD = r"^[A-Za-z]\d[0-9A-Za-z](?:\.[0-9A-Za-z]{1,4}|[0-9A-Za-z]{0,2}|[0-9A-Za-z]*[A-Za-z][0-9A-Za-z]*)[+*!†]?$"


class Form(StrEnum):
    """Form of the values of a column."""

    NOTHING = "nothing"
    NUMBER = "number"
    DATE = "date"
    CODE = "code"
    MEASURE = "measurement"
    SET = "set"
    TEXT = "free text"
    CATEGORY = "category"


_PLAIN = {True: Form.NUMBER, False: Form.CATEGORY}


@dataclass(frozen=True, slots=True)
class Shape:
    """Form and pattern of the values of a column.

    ``pattern``: the pattern that the values match, if any. ``values``: the number of distinct values. ``near_unique``:
    the share of records with a unique value. ``icd``: whether the values are disease codes (ICD-10). ``kind``: the kind
    of values.
    """

    form: Form
    pattern: Pattern | None
    values: int
    near_unique: float
    icd: bool
    kind: ValueKind = ValueKind.CATEGORY

    @classmethod
    def of(cls, column: Column, counts: NDArray[np.int64]) -> "Shape":
        """Determine the shape of a column. ``counts``: the number of records per code.

        >>> import shoal
        >>> table = shoal.read({"x": ["ann@a.org", "bob@b.org", "cid@c.org", "dan@d.org", "eve@e.org"]})
        >>> shape = Shape.of(table["x"], table.counts("x"))
        >>> shape.pattern.name, shape.near_unique
        ('e-mail', 1.0)
        """
        number, records = len(column.values), int(counts.sum())
        unique = float(np.count_nonzero(counts[:number] == 1) / records) if records else 0.0
        chosen = np.unique(np.linspace(0, max(number - 1, 0), min(number, MOST_VALUES)).astype(np.int64))
        values = column.values.take(pa.array(chosen))
        texts = as_text(values)
        ladder = _ladder(Column(column.name, column.kind, values)) if number else None
        form = _form(column, texts, ladder, counts[chosen])
        pattern = _pattern(column, texts, unique, form)
        known = int(counts[:number].sum())
        icd = isinstance(ladder, Icd10) and (_most(texts, _ICD) or number <= _SHARED * known)
        return cls(form, pattern, number, unique, icd, _kind(column, form))


def _kind(column: Column, form: Form) -> ValueKind:
    if form is Form.DATE:
        return ValueKind.DATE
    return ValueKind.AMOUNT if form is Form.MEASURE else value_kind(column)


def _ladder(column: Column) -> Spec | None:
    """Return the hierarchy that fits a column; None if its numbers are out of range."""
    try:
        return propose(column)
    except (ValueError, OverflowError):
        return None


def _most(texts: pa.StringArray, pattern: str) -> bool:
    """Return whether at least 90 % of the texts match a regular expression."""
    return bool(pc.mean(pc.match_substring_regex(texts, pattern).cast(pa.float64())).as_py() >= _MOSTLY)


def _pattern(column: Column, texts: pa.StringArray, unique: float, form: Form) -> Pattern | None:
    """Return the pattern that most values match, preferably one with a checksum; None for dates and measurements."""
    if column.kind not in {Kind.TEXT, Kind.INTEGER, Kind.CATEGORY} or form in {Form.DATE, Form.MEASURE}:
        return None
    fitting: list[tuple[bool, float, Pattern]] = []
    for pattern in PATTERNS.values():
        if (column.kind is Kind.INTEGER and not pattern.checked) or unique < pattern.single:
            continue  # plain integers match many patterns
        matches = pattern.matches(texts)
        fewest = _FEWEST if pattern.checked else pattern.fewest
        if np.count_nonzero(matches) >= fewest and matches.mean() >= pattern.followed:
            fitting.append((pattern.checked, float(matches.mean()), pattern))
    return max(fitting, key=lambda pattern: pattern[:2])[2] if fitting else None


def _form(column: Column, texts: pa.StringArray, ladder: object, counts: NDArray[np.int64]) -> Form:
    if not len(texts):
        return Form.NOTHING
    if column.kind in {Kind.DATE, Kind.DATETIME} or (isinstance(ladder, Date) and not column.kind.numeric):
        return Form.DATE
    return _form_of_texts(texts, ladder, counts) if column.is_text else _PLAIN[column.kind.numeric]


def _form_of_texts(texts: pa.StringArray, ladder: object, counts: NDArray[np.int64]) -> Form:
    if is_free_text(texts, counts):
        return Form.TEXT
    if _most(texts, r"\d"):  # both patterns require a digit, and take milliseconds to compile
        for pattern, form in ((_DATED, Form.DATE), (_MEASURED, Form.MEASURE)):
            if _most(texts, pattern):
                return form
    coded = Form.CODE if isinstance(ladder, Prefix | Icd10) else Form.CATEGORY
    return Form.SET if _are_sets(texts.to_pylist()) else coded


def _are_sets(values: list[str]) -> bool:
    """Return whether values are lists of a few items that recur in other lists."""
    for separator in (";", "|", ","):
        lists = [re.split(rf"\s*{re.escape(separator)}\s*", value.strip()) for value in values]
        several = [items_of for items_of in lists if len(items_of) > 1]
        if len(several) < max(len(values) / 5, 2):
            continue
        items = {item for items_of in lists for item in items_of}
        if len(items) <= sum(map(len, lists)) / 2:
            return True
    return False
