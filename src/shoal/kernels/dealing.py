"""Dealing: buckets of different values, as even as their frequencies allow."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address
from shoal.kernels.siphash import Words

DealtValues: TypeAlias = NDArray[np.uint32]
Counts: TypeAlias = NDArray[np.int64]


def dealt(counts: Counts, size: int, draws: Words) -> tuple[DealtValues, Counts]:
    """Deal values into buckets of ``size`` different ones; return the values of each bucket, and the counts left.

    Each bucket takes the values of which most are left, and random ones of those of which equally many are left
    (Xiao & Tao 2006). If no value makes up more than 1/``size`` of all, fewer than ``size`` are left, all different.
    ``draws``: a random word for each value that is dealt.

    >>> dealt(np.array([2, 1, 1]), 2, np.zeros(4, np.uint64))
    (array([[0, 1],
           [2, 0]], dtype=uint32), array([0, 0, 0]))
    """
    if size < 1 or draws.dtype != np.uint64 or len(draws) < counts.sum() or counts.min(initial=0) < 0:
        raise TypeError("every value that is dealt needs a random word, and every bucket a value")
    left = counts.astype(np.int64)
    order = np.argsort(-left, kind="stable")
    buckets = np.zeros((int(counts.sum()) // size if len(counts) >= size else 0, size), np.uint32)
    if not len(buckets):
        return buckets, left
    native = library.core()
    if native is None:
        return buckets[: _deal(draws, order, left, buckets)], left
    words = np.ascontiguousarray(draws)
    number = native.shoal_dealt(address(words), len(left), size, address(order), address(left), address(buckets))
    return buckets[:number], left


def _deal(draws: Words, order: NDArray[np.int64], left: Counts, buckets: DealtValues) -> int:
    """Fill buckets, and return their number; the steps are those of the C core."""
    size, number, drawn, end = buckets.shape[1], 0, 0, buckets.shape[1]
    while (count := left[order[size - 1]]) > 0:
        start = size - 1
        while start > 0 and left[order[start - 1]] == count:
            start -= 1
        while end < len(order) and left[order[end]] == count:
            end += 1
        for last in range(end - 1, end - 1 - (size - start), -1):
            place = start + int(draws[drawn] % np.uint64(last - start + 1))
            order[place], order[last] = order[last], order[place]
            drawn += 1
        buckets[number] = [*order[:start], *order[end - (size - start) : end]]
        left[buckets[number]] -= 1
        number, end = number + 1, end - (size - start)
    return number
