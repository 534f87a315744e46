"""Encoding: columns of values are converted to columns of codes once, when a table is created.

Encoding takes two steps. First, each cell gets a raw code: 0 for missing, i for the i-th entry of a raw dictionary, in
the order of the source. Then the entries are interpreted (as a value, as missing or as suppressed) and ranked, and the
raw codes are translated. Only entries are inspected, never cells.

The final codes ascend with the values (numbers and dates by size, text by code point, categories as declared). They
reveal neither the order of the rows nor the dictionary of the source.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.kernels.translation import narrowest
from shoal.table.column import as_text
from shoal.table.inference import Reader, infer
from shoal.table.interned import InternedText
from shoal.table.kind import Kind, kind_of
from shoal.table.options import Options
from shoal.table.ranking import rank_many
from shoal.table.raw import Encoded, Entries, RawColumn

PLAIN = Options()


def encode(name: str, cells: pa.ChunkedArray, options: Options = PLAIN, readers: tuple[Reader, ...] = ()) -> Encoded:
    """Encode a whole column; ``readers`` infer the kind of a text column.

    >>> import pyarrow as pa
    >>> encoded = encode("age", pa.chunked_array([[40, None, 31, 40]]))
    >>> encoded.codes.tolist(), encoded.column.values.to_pylist(), encoded.column.missing_code
    ([1, 2, 0, 1], [31, 40], 2)
    """
    cells = supported(cells)
    if name in options.text:
        cells, readers = pa.chunked_array([as_text(chunk) for chunk in cells.chunks], pa.string()), ()
    kind = kind_of(cells.type, name)
    if pa.types.is_dictionary(cells.type):
        raw, values = _raw_dictionary(cells)
    elif kind is Kind.TEXT:
        raw, values = InternedText.of(cells).taken()
    else:
        raw, values = _raw_plain(cells)
    entries = Entries.read(kind, values, options.suppressed, options.markers)
    return raw.encoded(name, infer(entries, readers=readers) if readers and kind is Kind.TEXT else entries)


def supported(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cast types with limited support in Arrow to fully supported ones."""
    arrow = cells.type
    if pa.types.is_float16(arrow):
        return cells.cast(pa.float32())
    if pa.types.is_decimal32(arrow) or pa.types.is_decimal64(arrow):
        return cells.cast(pa.decimal128(arrow.precision, arrow.scale))
    if pa.types.is_date64(arrow):
        return cells.cast(pa.date32(), safe=False)
    if pa.types.is_dictionary(arrow) and pa.types.is_string_view(arrow.value_type):
        return cells.cast(pa.dictionary(arrow.index_type, pa.string(), arrow.ordered))
    return cells


def _raw_plain(cells: pa.ChunkedArray) -> tuple[RawColumn, pa.Array]:
    """Number the distinct values of a fixed-width type. NaN counts as missing."""
    array = _joined(cells)
    present = present_in(array)
    ranked = rank_many(array if present.all() else array.filter(pa.array(present)))
    codes = np.zeros(len(array), narrowest(len(ranked.values) + 1))
    codes[present] = ranked.ids + np.uint32(1)
    used = np.ones(len(ranked.values) + 1, bool)
    used[0] = not present.all()
    return RawColumn([codes], used), ranked.values


def present_in(array: pa.Array) -> NDArray[np.bool_]:
    """Return a mask of the cells that hold a value. NaN counts as missing."""
    present: NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_floating(array.type):
        present = present & ~np.isnan(array.to_numpy(zero_copy_only=False))
    return present


def _raw_dictionary(cells: pa.ChunkedArray) -> tuple[RawColumn, pa.Array]:
    """Return the raw codes and the dictionary of a dictionary-encoded column; unused entries are dropped later."""
    array = _one_dictionary(cells)
    size = len(array.dictionary) + 1
    codes = (array.indices.cast(pa.int64()).fill_null(-1).to_numpy() + 1).astype(narrowest(size))
    used = np.zeros(size, bool)
    used[codes] = True
    return RawColumn([codes], used), array.dictionary


def _one_dictionary(cells: pa.ChunkedArray) -> pa.DictionaryArray:
    """Join chunks whose dictionaries may differ and may contain nulls."""
    if cells.num_chunks == 1:
        return cells.chunk(0)
    words = [chunk.dictionary for chunk in cells.chunks] or [pa.array([], cells.type.value_type)]
    declared = pa.concat_arrays(words).drop_null().unique()
    decoded = [pc.index_in(chunk.dictionary_decode(), declared) for chunk in cells.chunks]
    return pa.DictionaryArray.from_arrays(pa.concat_arrays([pa.array([], pa.int32()), *decoded]), declared)


def _joined(cells: pa.ChunkedArray) -> pa.Array:
    joined = cells.combine_chunks()
    return joined if isinstance(joined, pa.Array) else pa.concat_arrays(joined.chunks)
