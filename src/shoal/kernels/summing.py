"""Sums of counts by code."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address


def summed(codes: NDArray[np.integer[Any]], counts: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """Sum counts by code; all codes are below ``number``.

    >>> import numpy as np
    >>> summed(np.array([0, 2, 2], np.uint8), np.array([5, 1, 1]), 4).tolist()
    [5, 0, 2, 0]
    """
    if codes.ndim != 1 or codes.shape != counts.shape or {codes.dtype.kind, counts.dtype.kind} - {"u", "i"}:
        raise ValueError("there must be as many counts as codes, and all must be whole numbers")
    sums, native = np.zeros(number, np.int64), library.core()
    if native is None or codes.dtype.kind != "u" or codes.itemsize > 4:
        np.add.at(sums, codes, counts)
        return sums
    codes, counts = np.ascontiguousarray(codes), np.ascontiguousarray(counts, np.int64)
    given = (address(codes), codes.itemsize, len(codes), address(counts))
    if native.shoal_sum(*given, address(sums), number) < 0:
        raise IndexError("a code lies outside of those that are summed")
    return sums
