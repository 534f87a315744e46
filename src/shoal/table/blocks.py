"""Block-wise encoding of columns: memory holds only the distinct values and one narrow code per cell."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.kernels.cells import CellTexts
from shoal.kernels.interning import key_interner, text_interner
from shoal.kernels.translation import Codes, mark, narrowest, translate
from shoal.table.column import Column, as_text
from shoal.table.encoding import PLAIN, encode, present_in, supported
from shoal.table.kind import Kind, kind_of
from shoal.table.options import Options
from shoal.table.raw import Entries, RawColumn


def encode_blocks(
    name: str, arrow: pa.DataType, blocks: Iterator[pa.Array], options: Options = PLAIN
) -> tuple[Column, Iterator[Codes]]:
    """Encode a column block by block; equivalent to :func:`encode`, with less memory.

    The codes are returned in parts.

    >>> import pyarrow as pa
    >>> column, parts = encode_blocks("age", pa.int64(), iter([pa.array([40, None]), pa.array([31, 40])]))
    >>> column.values.to_pylist(), [codes.tolist() for codes in parts]
    ([31, 40], [[1, 2], [0, 1]])
    """
    column = ColumnBlocks(name, arrow, options)
    for block in blocks:
        column.add(block)
    return column.encoded()


class ColumnBlocks:
    """A column that is read block by block."""

    def __init__(self, name: str, arrow: pa.DataType, options: Options = PLAIN) -> None:
        self._name, self._type, self._options = name, arrow, options
        self._written = name in options.text and not _is_text(arrow)  # other values, to be read as text
        self._interned = _interned(arrow, text=name in options.text)
        self._parts: list[Codes] = []
        self._blocks: list[pa.Array] = []  # of types without an interner

    def add(self, block: pa.Array) -> None:
        """Add the next block of cells."""
        if self._interned is None:
            self._blocks.append(block)
        else:
            self._parts.append(self._interned.add(as_text(block) if self._written else block))

    def encoded(self) -> tuple[Column, Iterator[Codes]]:
        """Return the column, and the codes of its cells in parts. Can be called only once."""
        if self._interned is None:
            encoded = encode(self._name, pa.chunked_array(self._blocks, self._type), self._options)
            return encoded.column, iter([encoded.codes])
        used, values = self._interned.taken()
        kind = Kind.TEXT if isinstance(self._interned, _Texts) else kind_of(self._type, self._name)
        entries = Entries.read(kind, values, self._options.suppressed, self._options.markers)
        return RawColumn(self._parts, used).encoded_in_parts(self._name, entries)


def _interned(arrow: pa.DataType, *, text: bool) -> "_Interned | None":
    if text or _is_text(arrow):
        return _Texts()
    return _Numbers(arrow) if _is_narrow(arrow) else None


class _Interned(Protocol):
    def add(self, block: pa.Array) -> Codes:
        """Return a raw code for each cell: 0 for missing, otherwise the number of its entry, counted from 1."""
        ...

    def taken(self) -> tuple[NDArray[np.bool_], pa.Array]:
        """Return a mask of the raw codes in use, and the entries."""
        ...


class _Texts:
    """Interner of text, either plain or dictionary-encoded per block."""

    def __init__(self) -> None:
        self._interner = text_interner()
        self._used = np.zeros(1, bool)

    def add(self, block: pa.Array) -> Codes:
        if pa.types.is_dictionary(block.type):
            entries = self._interner.add(CellTexts.of(block.dictionary.cast(pa.string())))
            codes = _taken(block.indices, entries, len(self._interner) + 1)
        else:
            codes = self._interner.add(CellTexts.of(block.cast(pa.string()))).astype(narrowest(len(self._interner) + 1))
        self._used = _grown(self._used, len(self._interner) + 1)
        mark(codes, self._used)
        return codes

    def taken(self) -> tuple[NDArray[np.bool_], pa.Array]:
        return self._used, self._interner.values()


class _Numbers:
    """Interner of numbers, dates, times and Booleans of at most 64 bits."""

    def __init__(self, arrow: pa.DataType) -> None:
        self._type = supported(pa.chunked_array([], arrow)).type
        self._interner = key_interner()
        self._used = np.zeros(1, bool)

    def add(self, block: pa.Array) -> Codes:
        block = block.cast(self._type, safe=False)
        codes = self._interner.add(_bits(block)) if _is_full(block) else self._present(block)
        narrow = codes.astype(narrowest(len(self._interner) + 1))
        self._used = _grown(self._used, len(self._interner) + 1)
        mark(narrow, self._used)
        return narrow

    def _present(self, block: pa.Array) -> NDArray[np.uint32]:
        present = present_in(block)
        codes = np.zeros(len(block), np.uint32)
        codes[present] = self._interner.add(_bits(block.filter(pa.array(present))))
        return codes

    def taken(self) -> tuple[NDArray[np.bool_], pa.Array]:
        return self._used, _values(self._interner.keys(), self._type)


def _is_full(block: pa.Array) -> bool:
    return not block.null_count and not (pa.types.is_floating(block.type) and pc.any(pc.is_nan(block)).as_py())


def _taken(indices: pa.Array, entries: NDArray[np.uint32], size: int) -> Codes:
    """Return the entry of each index, a code below ``size``; 0 where the index is null."""
    wide = indices.cast(pa.int32()) if indices.type != pa.int32() else indices
    places = np.frombuffer(wide.buffers()[1], np.int32)[wide.offset : wide.offset + len(wide)].view(np.uint32)
    if wide.null_count:
        places = np.where(wide.is_valid().to_numpy(zero_copy_only=False), places, np.uint32(len(entries)))
    if len(places) and int(places.max()) > len(entries):
        raise IndexError("an index lies outside of its dictionary")
    codes = np.empty(len(places), narrowest(size))
    translate(places, np.append(entries, np.uint32(0)), codes)
    return codes


def _grown(used: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    return used if len(used) == size else np.append(used, np.zeros(size - len(used), bool))


def _is_text(arrow: pa.DataType) -> bool:
    values = arrow.value_type if pa.types.is_dictionary(arrow) and not arrow.ordered else arrow
    return any(test(values) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _is_narrow(arrow: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_temporal)
    return any(test(arrow) for test in tests) and not pa.types.is_interval(arrow)


def _bits(values: pa.Array) -> NDArray[np.uint64]:
    """Return values as 64-bit patterns, distinct for distinct values; −0.0 becomes 0.0."""
    if pa.types.is_floating(values.type):
        return np.asarray(pc.add(values.cast(pa.float64()), 0.0)).view(np.uint64)
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    elif pa.types.is_temporal(values.type):
        values = values.view(pa.int32() if values.type.bit_width == 32 else pa.int64())
    return (
        np.ascontiguousarray(values.to_numpy())
        .astype(np.int64 if values.type != pa.uint64() else np.uint64)
        .view(np.uint64)
    )


def _values(bits: NDArray[np.uint64], arrow: pa.DataType) -> pa.Array:
    """Return the values with the given bit patterns, the inverse of :func:`_bits`."""
    if pa.types.is_floating(arrow):
        return pa.array(bits.view(np.float64)).cast(arrow)
    if arrow == pa.uint64():
        return pa.array(bits)
    integers = pa.array(bits.view(np.int64))
    if pa.types.is_temporal(arrow):
        return (integers.cast(pa.int32()) if arrow.bit_width == 32 else integers).view(arrow)
    return integers.cast(pa.uint8()).cast(arrow) if pa.types.is_boolean(arrow) else integers.cast(arrow)
