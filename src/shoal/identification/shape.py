"""The shape of a column: what its values look like, whatever its name says."""

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
from shoal.identification.patterns.pattern import PATTERNS, Pattern
from shoal.table.column import Column, as_text
from shoal.table.kind import Kind

MOST_VALUES = 20_000  # that are looked at
_FEWEST = 3  # values that must follow one with a checksum, and without one:
_FEWEST_UNCHECKED = 5
_LONG, _WORDS = 25, 4  # letters and words that a free text has on average


class Form(StrEnum):
    """What values are."""

    NOTHING = "nothing"
    NUMBER = "number"
    DATE = "date"
    CODE = "code"
    SET = "set"
    TEXT = "free text"
    CATEGORY = "category"


@dataclass(frozen=True, slots=True)
class Shape:
    """What values look like. ``pattern``: the one that they follow, if any. ``values``: how many different ones.

    ``near_unique``: the share of records whose value nobody else has. ``icd``: whether they are codes of diseases.
    """

    form: Form
    pattern: Pattern | None
    values: int
    near_unique: float
    icd: bool

    @classmethod
    def of(cls, column: Column, counts: NDArray[np.int64]) -> "Shape":
        """Look at a column; ``counts``: how many records have each code.

        >>> import shoal
        >>> table = shoal.read({"x": ["ann@a.org", "bob@b.org", "cid@c.org", "dan@d.org", "eve@e.org"]})
        >>> shape = Shape.of(table["x"], table.counts("x"))
        >>> shape.pattern.name, shape.near_unique
        ('e-mail', 1.0)
        """
        number, records = len(column.values), int(counts.sum())
        unique = float(np.count_nonzero(counts[:number] == 1) / records) if records else 0.0
        texts = as_text(column.values[:MOST_VALUES]) if number else pa.array([], pa.string())
        pattern = _pattern(column, texts, unique)
        ladder = propose(Column(column.name, column.kind, column.values[:MOST_VALUES])) if number else None
        form = _form(column, texts, ladder, number / max(records, 1))
        return cls(form, pattern, number, unique, isinstance(ladder, Icd10))


def _pattern(column: Column, texts: pa.StringArray, unique: float) -> Pattern | None:
    """Return the pattern that most values follow; one with a checksum counts more."""
    if column.kind not in {Kind.TEXT, Kind.INTEGER, Kind.CATEGORY}:
        return None
    found: list[tuple[bool, float, Pattern]] = []
    for pattern in PATTERNS.values():
        if (column.kind is Kind.INTEGER and not pattern.checked) or unique < pattern.single:
            continue  # a plain number looks like many things
        matches = pattern.matches(texts)
        fewest = _FEWEST if pattern.checked else _FEWEST_UNCHECKED
        if np.count_nonzero(matches) >= fewest and matches.mean() >= pattern.followed:
            found.append((pattern.checked, float(matches.mean()), pattern))
    return max(found, key=lambda one: one[:2])[2] if found else None


def _form(column: Column, texts: pa.StringArray, ladder: object, distinct: float) -> Form:
    if not len(texts):
        return Form.NOTHING
    if column.kind in {Kind.DATE, Kind.DATETIME} or isinstance(ladder, Date):
        return Form.DATE
    if column.kind is not Kind.TEXT:
        return Form.NUMBER if column.kind.numeric else Form.CATEGORY
    if is_free_text(texts, distinct):
        return Form.TEXT
    coded = Form.CODE if isinstance(ladder, Prefix | Icd10) else Form.CATEGORY
    return Form.SET if _are_sets(texts.to_pylist()) else coded


def is_free_text(texts: pa.StringArray, distinct: float) -> bool:
    """Tell whether values are sentences: long, of several words, and seldom the same.

    ``distinct``: how many different ones there are by records.

    >>> is_free_text(pa.array(["Seen by Dr. Smith, who said that all is well."]), 1.0)
    True
    """
    length = pc.mean(pc.utf8_length(texts)).as_py()
    words = pc.mean(pc.add(pc.count_substring(pc.utf8_trim_whitespace(texts), " "), 1)).as_py()
    return bool(length >= _LONG and words >= _WORDS and distinct > 0.1)


def _are_sets(values: list[str]) -> bool:
    """Tell whether values are lists of few things that come again in other lists."""
    for separator in (";", "|", ","):
        lists = [re.split(rf"\s*{re.escape(separator)}\s*", value.strip()) for value in values]
        several = [held for held in lists if len(held) > 1]
        if len(several) < max(len(values) / 5, 2):
            continue
        items = {item for held in lists for item in held}
        if len(items) <= sum(map(len, lists)) / 2:
            return True
    return False
