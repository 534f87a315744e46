"""Kind of values of a column, as far as it tells what a column can mean."""

from enum import StrEnum

import pyarrow.compute as pc

from shoal.table.column import Column

_FEW = 12  # maximum number of levels of a score or a grade
_HIGH = 100  # levels are below this
_TWO, _DIGIT = 2, 10  # flags are at most two numbers below this


class ValueKind(StrEnum):
    """Kind of values: a diagnosis may be a flag or a category, a laboratory value is an amount."""

    FLAG = "flag"
    LEVEL = "level"
    AMOUNT = "amount"
    CATEGORY = "category"
    DATE = "date"


def are_whole(column: Column) -> bool:
    """Return whether all values of a column are integers.

    >>> import shoal
    >>> table = shoal.read({"a": [1.0, 2.0, None], "b": [1.5, 2.0, 3.0]})
    >>> are_whole(table["a"]), are_whole(table["b"])
    (True, False)
    """
    return column.kind.numeric and bool(pc.all(pc.equal(column.values, pc.round(column.values))).as_py())


def value_kind(column: Column) -> ValueKind:
    """Return the kind of values of a column without dates.

    >>> import shoal
    >>> table = shoal.read({"dead": [0, 1, 1], "grade": [1, 2, 3], "bili": [0.4, 14.5, 1.1], "site": ["a", "b", "c"]})
    >>> [value_kind(table[name]).value for name in table.names]
    ['flag', 'level', 'amount', 'category']
    """
    number = len(column.values)
    if not column.kind.numeric:
        return ValueKind.FLAG if number <= _TWO else ValueKind.CATEGORY
    if not number or not are_whole(column):
        return ValueKind.AMOUNT
    highest = max(abs(float(column.values[place].as_py())) for place in (0, -1))
    if number <= _TWO and highest < _DIGIT:
        return ValueKind.FLAG
    return ValueKind.LEVEL if number <= _FEW and highest < _HIGH else ValueKind.AMOUNT
