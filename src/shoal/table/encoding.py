"""Encoding: columns of values become columns of codes, once, when a table is made.

It goes in two steps. First each cell gets a raw code: 0 for missing, i for the i-th entry of a raw dictionary, in
whatever order the source has. Then the entries are read (what is the value, does it mean missing or suppressed),
ranked, and the raw codes translated. Only entries are ever looked at, never cells.

The final codes ascend with the values (numbers and dates by size, text by code point, categories as declared), so
neither the order of rows nor the source's own dictionary shows in them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.kernels.grouping import group
from shoal.kernels.interning import text_interner
from shoal.kernels.ranking import sort_text
from shoal.kernels.translation import Codes, narrowest, translate_into
from shoal.table.column import Column
from shoal.table.kind import Kind, kind_of

BLOCK = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A column and the code of each of its cells."""

    column: Column
    codes: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """A raw dictionary, read: the value of each entry, null where the entry means that a value is missing.

    ``ranked``: the values without the nulls, ranked, where that has been done already.
    """

    kind: Kind
    values: pa.Array
    suppressed: NDArray[np.bool_]
    ranked: "Ranked | None" = None

    @classmethod
    def read(cls, kind: Kind, values: pa.Array, marker: str | None = None) -> "Entries":
        """Take entries as they are; text that equals ``marker`` means suppressed."""
        if marker is None or kind is not Kind.TEXT:
            return cls(kind, values, np.zeros(len(values), bool))
        return cls(kind, values, pc.equal(values, marker).fill_null(False).to_numpy(zero_copy_only=False))


class RawColumn:
    """The raw codes of a column, in parts that are let go as they are translated."""

    def __init__(self, parts: list[Codes], used: NDArray[np.bool_]) -> None:
        self._parts = parts
        self._used = used

    def encoded(self, name: str, entries: Entries) -> Encoded:
        """Rank the entries that cells use and translate the raw codes. Can be done once."""
        used = self._used[1:]
        valid = entries.values.is_valid().to_numpy(zero_copy_only=False)
        shown = used & valid & ~entries.suppressed
        missing = bool(self._used[0] or (used & ~valid & ~entries.suppressed).any())
        suppressed = bool((used & entries.suppressed).any())
        ranked = _ranked(entries, shown)
        column = Column(name, entries.kind, ranked.values, missing=missing, suppressed=suppressed)
        table = np.full(len(self._used), column.missing_code or 0, np.uint32)
        table[1:][shown] = ranked.ids
        table[1:][entries.suppressed] = column.suppressed_code or 0
        return Encoded(column, self._translated(table, column.size))

    def _translated(self, table: NDArray[np.uint32], size: int) -> Codes:
        codes = np.empty(sum(map(len, self._parts)), narrowest(size))
        at = 0
        for part in _emptying(self._parts):
            translate_into(part, table, codes[at : at + len(part)])
            at += len(part)
        return codes


def _emptying(parts: list[Codes]) -> Iterator[Codes]:
    parts.reverse()
    while parts:
        yield parts.pop()


def _ranked(entries: Entries, shown: NDArray[np.bool_]) -> "Ranked":
    if entries.ranked is not None and len(entries.ranked.ids) == np.count_nonzero(shown):
        return entries.ranked
    values = entries.values if shown.all() else entries.values.filter(pa.array(shown))
    if entries.kind is Kind.CATEGORY:  # declared order
        return Ranked(values, np.arange(len(values), dtype=np.uint32))
    return rank(values)


def encode(name: str, cells: pa.ChunkedArray, *, suppressed: str | None = None) -> Encoded:
    """Encode a whole column; text cells that equal ``suppressed`` were blanked on purpose.

    >>> import pyarrow as pa
    >>> encoded = encode("age", pa.chunked_array([[40, None, 31, 40]]))
    >>> encoded.codes.tolist(), encoded.column.values.to_pylist(), encoded.column.missing_code
    ([1, 2, 0, 1], [31, 40], 2)
    """
    kind = kind_of(cells.type, name)
    if pa.types.is_dictionary(cells.type):
        raw, values = _raw_dictionary(cells)
    elif kind is Kind.TEXT:
        raw, values = InternedText.of(cells).taken()
    else:
        raw, values = _raw_plain(cells)
    return raw.encoded(name, Entries.read(kind, values, suppressed))


def blocks(cells: pa.ChunkedArray) -> Iterator[pa.Array]:
    """Cut a column into pieces that stay in the cache."""
    for chunk in cells.chunks:
        for start in range(0, len(chunk), BLOCK):
            yield chunk.slice(start, BLOCK)


class InternedText:
    """Takes a column of text block by block and keeps raw codes only."""

    def __init__(self) -> None:
        self._interner = text_interner()
        self._parts: list[Codes] = []
        self._missing = False

    @classmethod
    def of(cls, cells: pa.ChunkedArray) -> "InternedText":
        """Intern a whole column."""
        interned = cls()
        for block in blocks(cells.cast(pa.string())):
            interned.add(block)
        return interned

    def add(self, block: pa.StringArray) -> None:
        """Encode one more block; the codes kept are as narrow as the number of values so far allows."""
        codes = self._interner.add(block)
        self._missing = self._missing or block.null_count > 0
        self._parts.append(codes.astype(narrowest(len(self._interner) + 1)))

    def taken(self) -> tuple[RawColumn, pa.LargeStringArray]:
        """Hand over the raw codes and the distinct values; the interner's own tables are let go."""
        values = self._interner.values()
        used = np.ones(len(values) + 1, bool)
        used[0] = self._missing
        raw = RawColumn(self._parts, used)
        self._interner, self._parts = text_interner(), []
        return raw, values


def _raw_plain(cells: pa.ChunkedArray) -> tuple[RawColumn, pa.Array]:
    """Number the values of a fixed-width type. Not-a-number is missing."""
    array = _joined(cells)
    present = _present(array)
    ranked = rank_many(array if present.all() else array.filter(pa.array(present)))
    codes = np.zeros(len(array), narrowest(len(ranked.values) + 1))
    codes[present] = ranked.ids + np.uint32(1)
    used = np.ones(len(ranked.values) + 1, bool)
    used[0] = not present.all()
    return RawColumn([codes], used), ranked.values


def _present(array: pa.Array) -> NDArray[np.bool_]:
    present: NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_floating(array.type):
        present = present & ~np.isnan(array.to_numpy(zero_copy_only=False))
    return present


def _raw_dictionary(cells: pa.ChunkedArray) -> tuple[RawColumn, pa.Array]:
    """Take the dictionary that the column comes with; its unused entries will be dropped."""
    array = _joined(cells.unify_dictionaries())
    size = len(array.dictionary) + 1
    codes = (array.indices.cast(pa.int64()).fill_null(-1).to_numpy() + 1).astype(narrowest(size))
    used = np.zeros(size, bool)
    used[codes] = True
    return RawColumn([codes], used), array.dictionary


def _joined(cells: pa.ChunkedArray) -> pa.Array:
    joined = cells.combine_chunks()
    return joined if isinstance(joined, pa.Array) else pa.concat_arrays(joined.chunks)


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Distinct values in ascending order, and for each input its place among them."""

    values: pa.Array
    ids: NDArray[np.uint32]


def rank(values: pa.Array) -> Ranked:
    """Rank values, of which most are different, such as the entries of a dictionary; none may be missing.

    >>> import pyarrow as pa
    >>> ranked = rank(pa.array([2.5, -1.0, 2.5]))
    >>> ranked.values.to_pylist(), ranked.ids.tolist()
    ([-1.0, 2.5], [1, 0, 1])
    """
    if len(values) == 0:
        return Ranked(values, np.empty(0, np.uint32))
    order = _ascending(values)
    sorted_values = values.take(pa.array(order))
    new = np.ones(len(order), bool)
    new[1:] = pc.not_equal(sorted_values[1:], sorted_values[:-1]).to_numpy(zero_copy_only=False)
    ids = np.empty(len(order), np.uint32)
    ids[order] = np.cumsum(new, dtype=np.uint32) - np.uint32(1)
    return Ranked(sorted_values if new.all() else sorted_values.filter(pa.array(new)), ids)


def _ascending(values: pa.Array) -> NDArray[np.int64]:
    """Return the order that sorts values of any plain type."""
    if pa.types.is_decimal(values.type):
        return np.asarray(pc.array_sort_indices(values), np.int64)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return sort_text(values.cast(pa.large_string()))
    return np.argsort(_sortable(values)[0], kind="stable")


def rank_many(values: pa.Array) -> Ranked:
    """Rank values, of which most occur many times, such as the cells of a column; none may be missing."""
    if pa.types.is_decimal(values.type):
        encoded = values.dictionary_encode()
        entries = rank(encoded.dictionary)
        return Ranked(entries.values, entries.ids[encoded.indices.to_numpy()])
    if len(values) == 0:
        return Ranked(values, np.empty(0, np.uint32))
    groups = group(*_sortable(values))
    return Ranked(values.take(pa.array(groups.first)), groups.ids)


def _sortable(values: pa.Array) -> tuple[NDArray[np.uint64], int]:
    """Map fixed-width values to unsigned integers that compare alike, and give an upper bound of these."""
    if pa.types.is_floating(values.type):
        numbers = values.cast(pa.float64()).to_numpy() + 0.0  # −0.0 becomes 0.0
        bits = numbers.view(np.int64)
        return (bits ^ ((bits >> 63) | np.int64(-(2**63)))).view(np.uint64), 2**64
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
