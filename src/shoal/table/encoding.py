"""Encoding: columns of values become columns of codes, once, when a table is made.

It goes in two steps. First each cell gets a raw code: 0 for missing, i for the i-th entry of a raw dictionary, in
whatever order the source has. Then the entries are read (what is the value, does it mean missing or suppressed),
ranked, and the raw codes translated. Only entries are ever looked at, never cells.

The final codes ascend with the values (numbers and dates by size, text by code point, categories as declared), so
neither the order of rows nor the source's own dictionary shows in them.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.kernels.translation import narrowest
from shoal.table.interned import InternedText
from shoal.table.kind import Kind, kind_of
from shoal.table.ranking import rank_many
from shoal.table.raw import Encoded, Entries, RawColumn


def encode(name: str, cells: pa.ChunkedArray, *, suppressed: str | None = None) -> Encoded:
    """Encode a whole column; text cells that equal ``suppressed`` were blanked on purpose.

        >>> import pyarrow as pa
    import pyarrow.compute as pc
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


def _raw_plain(cells: pa.ChunkedArray) -> tuple[RawColumn, pa.Array]:
    """Number the values of a fixed-width type. Not-a-number is missing."""
    array = _joined(cells)
    if pa.types.is_floating(array.type):
        array = pc.add(array, pa.scalar(0, array.type))  # −0.0 becomes 0.0: they are one value
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
