"""Packing: the codes of several columns become one key of 64 bits, most significant column first.

    key = (…(c₀ · r₁ + c₁) · r₂ + c₂ …)        0 ≤ cⱼ < rⱼ

Keys compare as the rows do, column by column.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.translation import Codes, checked

KEY_SPACE = 1 << 64


def pack(columns: Sequence[Codes], sizes: Sequence[int], start: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
    """Return the key of each row; ``start`` holds the keys of columns that were packed before.

    >>> import numpy as np
    >>> pack([np.array([0, 1], np.uint8), np.array([2, 0], np.uint16)], [2, 3]).tolist()
    [2, 3]
    """
    rows = len(columns[0]) if columns else 0
    keys = np.zeros(rows, np.uint64) if start is None else start.copy()
    native = library.core()
    held = [checked(codes) for codes in columns]
    if native is None:
        for codes, size in zip(held, sizes, strict=True):
            keys *= np.uint64(size)
            keys += codes
        return keys
    pointers = np.array([codes.ctypes.data for codes in held], np.uintp)
    widths = np.array([codes.itemsize for codes in held], np.int32)
    radices = np.array(sizes, np.uint64)
    native.shoal_pack(pointers.ctypes.data, widths.ctypes.data, radices.ctypes.data, len(held), rows, keys.ctypes.data)
    return keys
