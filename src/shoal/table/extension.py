"""Extension: a column with further numbers or dates, in the precision of its values."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as at
from numpy.typing import NDArray

from shoal.kernels.translation import Codes, narrowest
from shoal.table.column import Column
from shoal.table.scale import scale

Floats = NDArray[np.float64]
_DECIMALS = 6  # maximum number of decimal places that count as a precision
_NEAR = 1e-6  # deviation of multiples from whole numbers
_EXACT = float(1 << 53)  # integers beyond it are not exact as floating-point numbers


@dataclass(frozen=True, eq=False)
class Extension:
    """A column with further values, which have the ``codes``. ``moved[c]``: the new code of code c."""

    column: Column
    moved: Codes
    codes: Codes

    @classmethod
    def of(cls, column: Column, numbers: Floats) -> "Extension":
        """Add numbers to a column, rounded to the precision of its values, between its smallest and its largest.

        In a column of another kind than numbers and dates, the nearest values are used instead.

        >>> import shoal
        >>> column = shoal.read({"kg": [70.5, 80.0, 91.2]})["kg"]
        >>> more = Extension.of(column, np.array([75.2501, 80.02]))
        >>> more.column.values.to_pylist(), more.moved.tolist(), more.codes.tolist()
        ([70.5, 75.3, 80.0, 91.2], [0, 2, 3], [1, 2])
        """
        stored, numbers = _stored(column), held(column, numbers)
        if stored is None:
            nearest = _nearest(_scale(column), numbers)
            return cls(column, np.arange(column.size, dtype=narrowest(column.size)), nearest)
        every = np.unique(np.concatenate([stored, _rounded(numbers, stored)]))
        tail = np.arange(column.size - len(column.values)) + len(every)
        extended = replace(column, values=_as(every, column.values.type))
        small = narrowest(extended.size)
        moved = np.concatenate([np.searchsorted(every, stored), tail]).astype(small)
        return cls(extended, moved, np.searchsorted(every, _rounded(numbers, stored)).astype(small))


def held(column: Column, numbers: Floats) -> Floats:
    """Return numbers as a column holds them: in the precision of its values, and between the smallest and largest.

    >>> import shoal
    >>> held(shoal.read({"kg": [70.5, 80.0, 91.2]})["kg"], np.array([75.2501, 100.0])).tolist()
    [75.3, 91.2]
    """
    known, stored = _scale(column), _stored(column)
    numbers = np.clip(numbers, np.nanmin(known), np.nanmax(known))
    return known[_nearest(known, numbers)] if stored is None else _rounded(numbers, stored).astype(np.float64)


def _scale(column: Column) -> Floats:
    """Return the position of each value."""
    places = scale(column)
    if places is None:
        raise TypeError("only numbers and dates can be added to a column")
    return places[: len(column.values)]


def _stored(column: Column) -> NDArray[Any] | None:
    """Return the values as integers or floating-point numbers; None if they are of another type, or not exact."""
    values = column.values
    if at.is_floating(values.type):
        numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return numbers if np.isfinite(numbers).all() else None
    if at.is_integer(values.type):
        numbers = values.to_numpy(zero_copy_only=False)
        return numbers.astype(np.int64) if np.abs(numbers.astype(np.float64)).max(initial=0) < _EXACT else None
    if at.is_date32(values.type):
        return np.asarray(values.cast(pa.int32()).to_numpy(zero_copy_only=False).astype(np.int64))
    return None


def _rounded(numbers: Floats, stored: NDArray[Any]) -> NDArray[Any]:
    """Round numbers to multiples of the smallest difference of the stored ones, if these are such multiples."""
    unit = float(np.diff(np.unique(stored).astype(np.float64)).min(initial=np.inf))
    multiples = stored / unit if np.isfinite(unit) else stored
    if np.isfinite(unit) and np.abs(multiples - np.rint(multiples)).max(initial=0) <= _NEAR:
        numbers = np.rint(numbers / unit) * unit
    if stored.dtype != np.float64:
        return np.rint(numbers).astype(np.int64)
    near = 1e-9 * float(np.abs(stored).max(initial=0))
    for places in range(_DECIMALS + 1):
        if np.abs(np.round(stored, places) - stored).max(initial=0) <= near:
            return np.char.mod(f"%.{places}f", numbers).astype(np.float64) + 0.0  # the double that is read again
    return numbers


def _as(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    return pa.array(values.astype(np.int32), pa.int32()).cast(kind) if at.is_date32(kind) else pa.array(values, kind)


def _nearest(known: Floats, numbers: Floats) -> Codes:
    """Return the code of the nearest value."""
    order = np.argsort(np.where(np.isnan(known), np.inf, known), kind="stable")
    places = known[order][: int(np.isfinite(known).sum())]
    above = np.clip(np.searchsorted(places, numbers), 1, max(len(places) - 1, 1))
    closer = np.where(
        numbers - places[above - 1] <= places[np.minimum(above, len(places) - 1)] - numbers, above - 1, above
    )
    return order[np.minimum(closer, len(places) - 1)].astype(narrowest(max(len(known), 1)))
