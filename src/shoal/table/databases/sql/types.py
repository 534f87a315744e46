"""Types: the mapping between column types of databases and Arrow types."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.types import TypeEngine

_ANY_SCALE = pa.decimal128(38, 18)  # decimals without a declared scale
_MOST_DIGITS, _WIDE_DIGITS = 38, 76  # maximum digits of Arrow decimals of 128 and 256 bits
_AS_INTEGER = 18  # digits that always fit into 64 bits
_WRITTEN = frozenset({"BIT", "CIDR", "INET", "MACADDR", "MACADDR8", "MONEY", "ROWID", "UROWID", "XML"})  # read as text


def arrow_type(kind: TypeEngine[Any]) -> pa.DataType:
    """Return the Arrow type of a column type; types without single plain values get one that cannot be encoded.

    >>> arrow_type(sa.Date()), arrow_type(sa.Numeric(6, 2)), arrow_type(sa.Numeric(10, 0))
    (DataType(date32[day]), Decimal128Type(decimal128(6, 2)), DataType(int64))
    """
    kind = getattr(kind, "data_type", kind)  # the base type of a domain
    name = type(kind).__name__
    if isinstance(kind, sa.JSON | sa.ARRAY | sa.Interval) or name in {"SET", "INTERVAL"}:
        return pa.list_(pa.string())
    if isinstance(kind, sa.Boolean) or (isinstance(kind, mysql.BIT) and kind.length in {None, 1}):
        return pa.bool_()
    if isinstance(kind, sa.Integer | mysql.BIT | mysql.YEAR):
        return pa.uint64() if getattr(kind, "unsigned", False) else pa.int64()
    if isinstance(kind, sa.Float):
        return pa.float64()
    if isinstance(kind, sa.Numeric):
        return _decimal(kind)
    return _of_time(kind) or (pa.string() if _is_text(kind) or name in _WRITTEN else pa.binary())


def _is_text(kind: TypeEngine[Any]) -> bool:
    return isinstance(kind, sa.String | sa.Uuid)


def _of_time(kind: TypeEngine[Any]) -> pa.DataType | None:
    if isinstance(kind, sa.DateTime):
        return pa.timestamp("us", "UTC" if kind.timezone else None)
    if isinstance(kind, sa.Date):
        return pa.date32()
    return pa.time64("us") if isinstance(kind, sa.Time) else None


def _decimal(kind: Any) -> pa.DataType:
    if kind.precision is None or kind.scale is None or kind.precision > _WIDE_DIGITS or kind.scale < 0:
        return _ANY_SCALE
    if kind.scale == 0 and kind.precision <= _AS_INTEGER:
        return pa.int64()
    return (pa.decimal128 if kind.precision <= _MOST_DIGITS else pa.decimal256)(kind.precision, kind.scale)


def as_numbers(columns: Sequence[sa.Column[Any]]) -> None:
    """Make drivers return exact numbers as decimals, and floating-point numbers as floats."""
    for column in columns:
        if isinstance(column.type, sa.Float):
            column.type.asdecimal = False
        elif isinstance(column.type, sa.Numeric):
            column.type.asdecimal = True


def cells(values: Sequence[Any], arrow: pa.DataType) -> pa.Array | None:
    """Convert values of a driver to Arrow cells, or return None if they do not fit the type.

    >>> cells([Decimal("1.5"), None], pa.decimal128(6, 2)).to_pylist()
    [Decimal('1.50'), None]
    """
    with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array(values, arrow)
    with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([_plain(value, arrow) for value in values], arrow)
    return None


def _plain(value: Any, arrow: pa.DataType) -> Any:
    """Convert a value to one that Arrow accepts; a decimal NaN is missing."""
    if value is None or (isinstance(value, Decimal) and value.is_nan()):
        return None
    if pa.types.is_string(arrow):
        return str(value) if not isinstance(value, bytes) else value.decode()
    if pa.types.is_time(arrow) and isinstance(value, str):
        return time.fromisoformat(value)
    read = next((read for test, read in _READ if test(arrow)), None)
    return value if read is None else read(value)


def _whole(value: Any) -> int:
    if isinstance(value, bytes):
        return int.from_bytes(value)
    if value != int(value):
        raise ValueError
    return int(value)


_READ: tuple[tuple[Callable[[pa.DataType], bool], Callable[[Any], Any]], ...] = (
    (pa.types.is_boolean, lambda value: bool(_whole(value))),
    (pa.types.is_floating, float),
    (pa.types.is_integer, _whole),
)


def as_stored(values: pa.Array, arrow: pa.DataType) -> pa.Array:
    """Return the distinct values of a column without a declared scale in the smallest scale that fits."""
    if arrow != _ANY_SCALE or values.type != _ANY_SCALE:
        return values
    for scale in range(_ANY_SCALE.scale):
        try:
            return values.cast(pa.decimal128(_ANY_SCALE.precision, scale))
        except pa.ArrowInvalid:
            continue
    return values


def is_padded(kind: TypeEngine[Any]) -> bool:
    """Return whether a column pads text with blanks, which carry no information."""
    return isinstance(kind, sa.CHAR | sa.NCHAR) and not isinstance(kind, sa.Enum)


def sql_type(arrow: pa.DataType) -> TypeEngine[Any]:
    """Return the column type for numbers, dates or Booleans.

    >>> sql_type(pa.int16()), sql_type(pa.decimal128(6, 2))
    (BigInteger(), Numeric(precision=6, scale=2))
    """
    return next(type_(arrow) for test, type_ in _STORED if test(arrow))


_STORED: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], TypeEngine[Any]]], ...] = (
    (pa.types.is_boolean, lambda _: sa.Boolean()),
    (pa.types.is_uint64, lambda _: sa.Numeric(20, 0)),
    (pa.types.is_integer, lambda _: sa.BigInteger()),
    (pa.types.is_floating, lambda _: sa.Double()),
    (pa.types.is_decimal, lambda arrow: sa.Numeric(arrow.precision, arrow.scale)),
    (pa.types.is_date, lambda _: sa.Date()),
    (pa.types.is_timestamp, lambda arrow: sa.DateTime(timezone=arrow.tz is not None)),
    (pa.types.is_time, lambda _: sa.Time()),
)
