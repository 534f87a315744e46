"""Kinds of values of a column."""

from enum import StrEnum

import pyarrow as pa

from shoal.errors import ColumnError
from shoal.remedy import Option, either


class Kind(StrEnum):
    """Kind of the values of a column. All kinds except text are ordered."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    DATETIME = "datetime"
    TIME = "time"
    BOOLEAN = "boolean"
    CATEGORY = "category"

    @property
    def ordered(self) -> bool:
        """Whether the order of the values is meaningful."""
        return self is not Kind.TEXT

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers, which can be added."""
        return self in {Kind.INTEGER, Kind.NUMBER}

    @property
    def dated(self) -> bool:
        """Whether the values are dates, with or without a time."""
        return self in {Kind.DATE, Kind.DATETIME}


def kind_of(arrow: pa.DataType, name: str) -> Kind:
    """Return the kind of an Arrow type; reject types that cannot be encoded, such as lists.

    >>> import pyarrow as pa
    >>> kind_of(pa.int16(), "age"), kind_of(pa.timestamp("us"), "admitted")
    (<Kind.INTEGER: 'integer'>, <Kind.DATETIME: 'datetime'>)
    """
    for test, kind in _TESTS:
        if test(arrow):
            return kind
    if pa.types.is_dictionary(arrow):
        value_kind = kind_of(arrow.value_type, name)
        return Kind.CATEGORY if arrow.ordered else value_kind
    raise ColumnError(
        "unknown-kind",
        "Column '{column}' contains {type}, which cannot be encoded.",
        remedy=either(
            "Give each record one plain value per column (text, number, date, or true/false)", Option("columns")
        ),
        column=name,
        type=arrow,
    )


def _is_text(arrow: pa.DataType) -> bool:
    is_text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
    return any(test(arrow) for test in is_text)


def _is_number(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_floating(arrow) or pa.types.is_decimal(arrow))


_TESTS = (
    (_is_text, Kind.TEXT),
    (pa.types.is_boolean, Kind.BOOLEAN),
    (pa.types.is_integer, Kind.INTEGER),
    (_is_number, Kind.NUMBER),
    (pa.types.is_date, Kind.DATE),
    (pa.types.is_timestamp, Kind.DATETIME),
    (pa.types.is_time, Kind.TIME),
)
