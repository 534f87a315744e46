"""Scale of a column: the positions of its values on a line, for distances and means."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.table.column import Column
from shoal.table.kind import Kind

_DAY = 86_400_000_000  # in microseconds
_FEW, _BINS = 50, 20  # a number or date with more than so many values is divided into so many groups


def scale(column: Column) -> NDArray[np.float64] | None:
    """Return the position of each code: the number itself, or days since 1970; NaN if it has none.

    Return None for kinds without distances, such as text.

    >>> import shoal
    >>> from datetime import date
    >>> scale(shoal.read({"age": [34, 71, None]})["age"]).tolist()
    [34.0, 71.0, nan]
    >>> scale(shoal.read({"born": [date(1970, 1, 31)]})["born"]).tolist()
    [30.0]
    """
    values = column.values
    if column.kind.numeric:
        numbers = doubles(values)
    elif column.kind is Kind.DATE:
        numbers = values.cast(pa.date32()).cast(pa.int32()).cast(pa.float64())
    elif column.kind is Kind.DATETIME:
        local = pc.local_timestamp(values) if values.type.tz else values  # local wall-clock time
        moments = local.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        numbers = pa.array(moments.to_numpy(zero_copy_only=False) / _DAY)
    else:
        return None
    places = np.full(column.size, np.nan)
    places[: len(values)] = numbers.to_numpy(zero_copy_only=False)
    places[np.isinf(places)] = np.nan  # infinite values have no position
    return places


def binned(column: Column) -> tuple[NDArray[np.int64], int]:
    """Return the group of each code, and the number of groups: each value, or 20 groups of many numbers or dates.

    >>> import shoal
    >>> groups, number = binned(shoal.read({"age": [*range(100)]})["age"])
    >>> groups[[0, 4, 5, 99]].tolist(), number
    ([0, 0, 1, 19], 20)
    """
    places = scale(column)
    if places is None or len(column.values) <= _FEW:
        return np.arange(column.size), column.size
    known = ~np.isnan(places)
    groups = np.full(column.size, _BINS, np.int64)
    groups[known] = np.argsort(np.argsort(places[known], kind="stable"), kind="stable") * _BINS // known.sum()
    return groups, int(groups.max()) + 1


def doubles(values: pa.Array) -> pa.Array:
    """Return numbers as the nearest doubles.

    Decimals are parsed from their digits. Arrow multiplies instead, and may miss the nearest double.

    >>> from decimal import Decimal
    >>> doubles(pa.array([Decimal("4.27")])).to_pylist()
    [4.27]
    """
    exact = values.cast(pa.string()) if pa.types.is_decimal(values.type) else values
    return exact.cast(pa.float64(), safe=False)
