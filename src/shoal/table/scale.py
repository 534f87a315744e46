"""The scale of a column: where its values lie on a line, for distances and means."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.table.column import Column
from shoal.table.kind import Kind

_DAY = 86_400_000_000  # in microseconds


def scale(column: Column) -> NDArray[np.float64] | None:
    """Return a number for each code: the number itself, or days since 1970; NaN where there is none.

    None where values have no distances, such as text.

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
        local = pc.local_timestamp(values) if values.type.tz else values  # the day that a clock on the wall showed
        moments = local.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        numbers = pa.array(moments.to_numpy(zero_copy_only=False) / _DAY)
    else:
        return None
    places = np.full(column.size, np.nan)
    places[: len(values)] = numbers.to_numpy(zero_copy_only=False)
    places[np.isinf(places)] = np.nan  # beyond the scale
    return places


def doubles(values: pa.Array) -> pa.Array:
    """Return numbers as the doubles that are nearest to them.

    Decimals are read from their digits: Arrow multiplies instead, and may come out beside the nearest one.

    >>> from decimal import Decimal
    >>> doubles(pa.array([Decimal("4.27")])).to_pylist()
    [4.27]
    """
    exact = values.cast(pa.string()) if pa.types.is_decimal(values.type) else values
    return exact.cast(pa.float64(), safe=False)
