"""United columns: a common dictionary for columns of the same name in several tables."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import ColumnError
from shoal.kernels.translation import narrowest
from shoal.remedy import Option, by
from shoal.table.column import Column, as_text
from shoal.table.kind import Kind


@dataclass(frozen=True, slots=True, eq=False)
class United:
    """Union of several columns.

    ``column``: the column with the values of all. ``places[i][code]``: the united code of a code of the i-th column.
    """

    column: Column
    places: tuple[NDArray[np.unsignedinteger[Any]], ...]

    @classmethod
    def of(cls, columns: Sequence[Column]) -> "United":
        """Unite columns. The first column determines the kind, except that integers can be united with fractions.

        >>> import shoal
        >>> ours, theirs = shoal.read({"age": [34, 71]})["age"], shoal.read({"age": [50.0, None]})["age"]
        >>> united = United.of([ours, theirs])
        >>> united.column.values.to_pylist(), [places.tolist() for places in united.places]
        ([34, 50, 71], [[0, 2], [1, 3]])
        """
        first = _leading(columns)
        alike = [_like(first, column) for column in columns]
        together = pc.unique(pa.concat_arrays(alike))
        new = pc.invert(pc.is_in(together, alike[0]))
        values = together.take(pc.sort_indices(together)) if first.kind is not Kind.CATEGORY else together
        if not pc.any(new).as_py():
            values = alike[0]
        missing, suppressed = any(column.missing for column in columns), any(column.suppressed for column in columns)
        united = Column(first.name, first.kind, values, missing, suppressed)
        return cls(united, tuple(_places(united, column, texts) for column, texts in zip(columns, alike, strict=True)))

    def placed(self, column: Column) -> NDArray[np.unsignedinteger[Any]]:
        """Return the united code of each code of a column whose values are all in the union."""
        return _places(self.column, column, _like(self.column, column))


def _places(united: Column, column: Column, values: pa.Array) -> NDArray[np.unsignedinteger[Any]]:
    places = np.zeros(column.size, np.int64)
    places[: len(values)] = pc.index_in(values, united.values).to_numpy(zero_copy_only=False)
    for ours, theirs in ((united.missing_code, column.missing_code), (united.suppressed_code, column.suppressed_code)):
        if ours is not None and theirs is not None:
            places[theirs] = ours
    return places.astype(narrowest(max(united.size, 1)))


def _leading(columns: Sequence[Column]) -> Column:
    """Return the first column in a type that fits all columns.

    Integers of different widths become 64-bit integers. Integers become fractions if other columns contain fractions.
    """
    first = columns[0]
    widths = {column.values.type for column in columns if column.kind is Kind.INTEGER}
    if first.kind is Kind.INTEGER and len(widths) > 1 and pa.uint64() not in widths:
        first = replace(first, values=first.values.cast(pa.int64()))
    floats = [
        column for column in columns if column.kind is Kind.NUMBER and not pa.types.is_integer(column.values.type)
    ]
    if first.kind is not Kind.INTEGER or all(_whole(column.values) for column in floats):
        return first
    return Column(first.name, Kind.NUMBER, _like(floats[0], first), first.missing, first.suppressed)


def _whole(values: pa.Array) -> bool:
    return bool(pc.all(pc.equal(values, pc.trunc(values)), min_count=0).as_py())


def _like(first: Column, column: Column) -> pa.Array:
    """Return the values of a column in the type of the first column; reject values that cannot be converted."""
    if column.values.type == first.values.type:
        return column.values
    try:
        if first.is_text:
            return as_text(column.values).cast(first.values.type)
        return column.values.cast(first.values.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ColumnError(
            "different-kinds",
            "Column '{column}' is of type {kind} in one table and of type {other} in another.",
            remedy=by("Read both in the same way, for example as text", Option("text")),
            column=first.name,
            kind=first.kind,
            other=column.kind,
        ) from None
