"""Codes: small unsigned integers that represent values, and their translation."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address

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


def checked(codes: Codes) -> Codes:
    """Return codes in the form that the C core requires: contiguous and unsigned, of 8, 16 or 32 bits.

    Other types raise a ``TypeError``.
    """
    if codes.dtype.kind != "u" or codes.itemsize > 4 or codes.ndim != 1:
        raise TypeError(f"codes are unsigned integers of 8, 16 or 32 bits, not {codes.dtype}")
    return np.ascontiguousarray(codes)


def mark(codes: Codes, seen: NDArray[np.bool_]) -> None:
    """Set ``seen[code]`` for every code that occurs. The caller guarantees that every code is in range.

    >>> import numpy as np
    >>> seen = np.zeros(4, bool)
    >>> mark(np.array([0, 2, 2], np.uint8), seen)
    >>> seen.tolist()
    [True, False, True, False]
    """
    native = library.core()
    codes = checked(codes)
    if native is None:
        seen[codes] = True
        return
    native.shoal_mark(address(codes), codes.itemsize, len(codes), address(seen))


def translate(codes: Codes, table: NDArray[Any], out: Codes) -> None:
    """Write ``table[codes]`` to ``out``, which may have a different width.

    The caller guarantees that every code is in range.

    >>> import numpy as np
    >>> out = np.empty(4, np.uint16)
    >>> translate(np.array([0, 2, 2, 1], np.uint8), np.array([5, 6, 300]), out)
    >>> out.tolist()
    [5, 300, 300, 6]
    """
    codes = checked(codes)
    if len(out) != len(codes) or not out.flags.c_contiguous or out.dtype.kind != "u" or out.itemsize > 4:
        raise TypeError("the translation needs as many codes out as in, side by side")
    native = library.core()
    if native is None:
        out[:] = table[codes]
        return
    entries = np.ascontiguousarray(table, np.uint32)
    native.shoal_translate(address(codes), codes.itemsize, len(codes), address(entries), address(out), out.itemsize)
