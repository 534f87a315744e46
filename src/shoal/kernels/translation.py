"""Codes: small unsigned integers that stand for values, and their translation."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library

Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]  # of 8, 16 or 32 bits


def narrowest(size: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the narrowest type that holds the codes 0 … size − 1.

    >>> [narrowest(n).name for n in (1, 256, 257, 65536, 65537)]
    ['uint8', 'uint8', 'uint16', 'uint16', 'uint32']
    """
    if size <= 1 << 8:
        return np.dtype(np.uint8)
    if size <= 1 << 16:
        return np.dtype(np.uint16)
    if size <= 1 << 32:
        return np.dtype(np.uint32)
    raise OverflowError(f"{size} codes do not fit into 32 bits")


def translate(codes: Codes, table: NDArray[Any], *, size: int) -> Codes:
    """Return ``table[codes]`` in the narrowest type for ``size`` different codes.

    Every code must be below ``len(table)`` and every entry of the table below ``size``.

    >>> import numpy as np
    >>> translate(np.array([0, 2, 2, 1], np.uint8), np.array([5, 6, 300]), size=301)
    array([  5, 300, 300,   6], dtype=uint16)
    """
    if len(codes) and int(codes.max()) >= len(table):
        raise IndexError("a code lies outside the translation table")
    out = np.empty(len(codes), narrowest(size))
    translate_into(codes, table, out)
    return out


def translate_into(codes: Codes, table: NDArray[Any], out: Codes) -> None:
    """Write ``table[codes]`` into ``out``, which may be of another width. The caller knows that every code fits."""
    native = library.core()
    if native is None:
        out[:] = table[codes]
        return
    codes, entries = np.ascontiguousarray(codes), np.ascontiguousarray(table, np.uint32)
    native.shoal_translate(
        codes.ctypes.data, codes.itemsize, len(codes), entries.ctypes.data, out.ctypes.data, out.itemsize
    )
