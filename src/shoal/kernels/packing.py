"""Packing: the codes of several columns form one key of 64 bits, with the first column most significant.

    key = (…(c₀ · r₁ + c₁) · r₂ + c₂ …)        0 ≤ cⱼ < rⱼ

Keys have the lexicographic order of the rows.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address
from shoal.kernels.translation import Codes, checked

KEY_SPACE = 1 << 64


def fitting(sizes: Sequence[int], begin: int, space: int = 1) -> tuple[int, int]:
    """Return the end of the columns from ``begin`` that fit into one key, and the number of possible keys.

    ``space``: the number of possible keys of the part that precedes these columns.

    >>> fitting([1 << 40, 1 << 24, 2], 0) == (2, 1 << 64)
    True
    """
    end = begin
    while end < len(sizes) and space * sizes[end] <= KEY_SPACE:
        space *= sizes[end]
        end += 1
    return end, space


def packed(columns: Sequence[Codes], sizes: Sequence[int]) -> list[NDArray[np.uint64]]:
    """Return the smallest number of keys that hold all columns."""
    parts, done = [], 0
    while done < len(columns):
        end, _ = fitting(sizes, done)
        parts.append(pack(columns[done:end], sizes[done:end]))
        done = end
    return parts


def pack(columns: Sequence[Codes], sizes: Sequence[int], start: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
    """Return the key of each row; ``start``: the keys of the columns packed before.

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
