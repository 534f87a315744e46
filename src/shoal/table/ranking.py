"""Ranking: the order of values of any plain type, and the rank of each value among the distinct ones."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.kernels.grouping import group
from shoal.kernels.ranking import gather_text, sort_text


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Distinct values in ascending order, and the rank of each input value among them."""

    values: pa.Array
    ids: NDArray[np.uint32]


def rank(values: pa.Array) -> Ranked:
    """Rank values that are mostly distinct, such as the entries of a dictionary. None may be missing.

    >>> import pyarrow as pa
    >>> ranked = rank(pa.array([2.5, -1.0, 2.5]))
    >>> ranked.values.to_pylist(), ranked.ids.tolist()
    ([-1.0, 2.5], [1, 0, 1])
    """
    if len(values) == 0:
        return Ranked(values, np.empty(0, np.uint32))
    values = _with_one_zero(values)
    if _is_text(values.type):
        values = values.cast(pa.large_string())
        order = sort_text(values)
        sorted_values = gather_text(values, order)
    else:
        order = _ascending(values)
        sorted_values = values.take(pa.array(order))
    new = np.ones(len(order), bool)
    new[1:] = pc.not_equal(sorted_values[1:], sorted_values[:-1]).to_numpy(zero_copy_only=False)
    ids = np.empty(len(order), np.uint32)
    ids[order] = np.cumsum(new, dtype=np.uint32) - np.uint32(1)
    return Ranked(sorted_values if new.all() else sorted_values.filter(pa.array(new)), ids)


def as_declared(values: pa.Array) -> Ranked:
    """Rank values in their given order; duplicates count once."""
    encoded = values.dictionary_encode()
    return Ranked(encoded.dictionary, encoded.indices.to_numpy().astype(np.uint32))


def _ascending(values: pa.Array) -> NDArray[np.int64]:
    """Return the indices that sort values of a fixed-width type."""
    if pa.types.is_decimal(values.type):
        return np.asarray(pc.array_sort_indices(values), np.int64)
    return np.argsort(_sortable(values)[0])


def _is_text(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_string(arrow) or pa.types.is_large_string(arrow))


def rank_many(values: pa.Array) -> Ranked:
    """Rank values that mostly repeat, such as the cells of a column. None may be missing."""
    if pa.types.is_decimal(values.type):
        encoded = values.dictionary_encode()
        entries = rank(encoded.dictionary)
        return Ranked(entries.values, entries.ids[encoded.indices.to_numpy()])
    if len(values) == 0:
        return Ranked(values, np.empty(0, np.uint32))
    values = _with_one_zero(values)
    groups = group(*_sortable(values))
    return Ranked(values.take(pa.array(groups.first)), groups.ids)


def _with_one_zero(values: pa.Array) -> pa.Array:
    """Replace −0.0 by 0.0: both are the same value, whichever comes first."""
    return pc.add(values, pa.scalar(0, values.type)) if pa.types.is_floating(values.type) else values


def _sortable(values: pa.Array) -> tuple[NDArray[np.uint64], int]:
    """Map fixed-width values to unsigned integers in the same order; also return their exclusive upper bound."""
    if pa.types.is_floating(values.type):
        bits = values.cast(pa.float64()).to_numpy().view(np.int64)
        flips = bits >> 63  # flip all bits of a negative number, otherwise only the sign bit
        flips |= np.int64(-(2**63))
        flips ^= bits
        return flips.view(np.uint64), 2**64
    if pa.types.is_uint64(values.type):
        return values.to_numpy(), 2**64
    integers = _as_int64(values)
    low, high = int(integers.min()), int(integers.max())
    return integers.view(np.uint64) - np.uint64(low % 2**64), high - low + 1


def _as_int64(values: pa.Array) -> NDArray[np.int64]:
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    elif pa.types.is_temporal(values.type):
        values = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    return np.ascontiguousarray(values.cast(pa.int64()).to_numpy())
