"""Ranking of text by its UTF-8 bytes, which is the order of code points."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address

# Longer text is sorted by comparison: few distinct values are that long, and each word takes a pass.
WORDS = 4


def sort_text(values: pa.LargeStringArray) -> NDArray[np.int64]:
    """Return the permutation that sorts the values, which must not be missing.

    Eight bytes at a time are read as one integer, so that integers are sorted instead of text.

    >>> import pyarrow as pa
    >>> sort_text(pa.array(["é", "b", "ab", "a"], pa.large_string())).tolist()
    [3, 2, 1, 0]
    """
    if len(values) == 0:
        return np.empty(0, np.int64)
    text, ends = parts(values)
    longest = int(np.diff(ends).max())
    words = -(-longest // 8)
    if words > WORDS:
        return np.asarray(pc.array_sort_indices(values), np.int64)
    if words == 1 and len(values) * longest == ends[-1] - ends[0]:  # all have the same length
        return np.argsort(_words(text, ends, 0))
    keys = [_words(text, ends, part) for part in range(words)]
    return np.lexsort((np.diff(ends), *reversed(keys)))  # the length distinguishes values from padding zeros


def gather_text(values: pa.LargeStringArray, order: NDArray[np.int64]) -> pa.LargeStringArray:
    """Return the values in another order; ``order`` is a permutation, and no value is missing.

    >>> import pyarrow as pa, numpy as np
    >>> gather_text(pa.array(["a", "bc", ""], pa.large_string()), np.array([1, 2, 0])).to_pylist()
    ['bc', '', 'a']
    """
    native = library.core()
    if native is None or len(values) == 0:
        return values.take(pa.array(order))
    text, ends = parts(values)
    order = np.ascontiguousarray(order, np.int64)
    out, out_ends = np.empty(int(ends[-1] - ends[0]), np.uint8), np.zeros(len(order) + 1, np.int64)
    native.shoal_gather_text(address(text), address(ends), address(order), len(order), address(out), address(out_ends))
    return pa.LargeStringArray.from_buffers(len(order), pa.py_buffer(out_ends), pa.py_buffer(out))


def parts(values: pa.LargeStringArray) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes of all values, and the offsets at which each value begins and ends."""
    _, offsets, text = values.buffers()
    return np.frombuffer(text or b"", np.uint8), np.frombuffer(offsets, np.int64, len(values) + 1, 8 * values.offset)


def _words(text: NDArray[np.uint8], ends: NDArray[np.int64], part: int) -> NDArray[np.uint64]:
    keys = np.zeros(len(ends) - 1, np.uint64)
    native = library.core()
    if native is not None:
        native.shoal_text_words(address(text), address(ends), len(keys), part, address(keys))
        return keys
    for at in range(8 * part, 8 * part + 8):
        keys <<= np.uint64(8)
        longer = np.diff(ends) > at
        keys[longer] |= text[ends[:-1][longer] + at]
    return keys
