"""Ascending order of keys by radix sort, in time proportional to their number."""

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address


def order(keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the permutation that sorts the keys in ascending order; the order of equal keys is preserved.

    >>> import numpy as np
    >>> order(np.array([9, 4, 9, 1], np.uint64)).tolist()
    [3, 1, 0, 2]
    """
    if keys.dtype != np.uint64 or len(keys) >= 1 << 32:
        raise TypeError("keys are fewer than 2³² unsigned integers of 64 bits")
    native = library.core()
    if native is None:
        return np.argsort(keys, kind="stable").astype(np.uint32)
    sorted_keys, more = keys.copy(), np.empty(len(keys), np.uint64)
    places, other = np.empty(len(keys), np.uint32), np.empty(len(keys), np.uint32)
    native.shoal_order_keys(address(sorted_keys), len(sorted_keys), *(address(part) for part in (places, more, other)))
    return places
