"""Packing: the codes of several columns become one key of 64 bits, most significant column first.

    key = (…(c₀ · r₁ + c₁) · r₂ + c₂ …)        0 ≤ cⱼ < rⱼ

Keys compare as the rows do, column by column.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address
from shoal.kernels.translation import Codes, checked

KEY_SPACE = 1 << 64


def fitting(sizes: Sequence[int], begin: int, space: int = 1) -> tuple[int, int]:
    """Return how far the columns from ``begin`` fit into one key, and how many keys there can be.

    ``space``: how many there are before the first of them.

    >>> fitting([1 << 40, 1 << 24, 2], 0) == (2, 1 << 64)
    True
    """
    end = begin
    while end < len(sizes) and space * sizes[end] <= KEY_SPACE:
        space *= sizes[end]
        end += 1
    return end, space


def packed(columns: Sequence[Codes], sizes: Sequence[int]) -> list[NDArray[np.uint64]]:
    """Return as few keys as all columns fit into."""
    parts, done = [], 0
    while done < len(columns):
        end, _ = fitting(sizes, done)
        parts.append(pack(columns[done:end], sizes[done:end]))
        done = end
    return parts


def pack(columns: Sequence[Codes], sizes: Sequence[int], start: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
    """Return the key of each row; ``start`` holds the keys of columns that were packed before.

    >>> import numpy as np
    >>> pack([np.array([0, 1], np.uint8), np.array([2, 0], np.uint16)], [2, 3]).tolist()
    [2, 3]
    """
    rows = len(columns[0]) if columns else 0
    keys = np.zeros(rows, np.uint64) if start is None else start.copy()
    native = library.core()
    narrow = [checked(codes) for codes in columns]
    if native is None:
        for codes, size in zip(narrow, sizes, strict=True):
            keys *= np.uint64(size)
            keys += codes
        return keys
    pointers = np.array([address(codes) for codes in narrow], np.uintp)
    widths = np.array([codes.itemsize for codes in narrow], np.int32)
    radices = np.maximum(np.array(sizes, np.uint64), 1)
    native.shoal_pack(address(pointers), address(widths), address(radices), len(narrow), rows, address(keys))
    return keys
