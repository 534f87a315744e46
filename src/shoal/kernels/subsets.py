"""Counting over all subsets of columns: how many rows agree with each row, whatever part of it is known.

Subsets are written as bits: column j is in subset A if bit j of A is set. One more column splits the groups of rows
that agreed so far, so each subset costs one pass, and all share their beginnings.
"""

import ctypes
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes

MOST = 24  # columns; beyond, the counts of all subsets do not fit into memory anyway


def memory(rows: int, columns: int) -> int:
    """Return how many bytes the counts of all subsets take.

    >>> memory(19_502, 9)
    39940096
    """
    return 4 * rows << columns


def subset_counts(columns: Sequence[Codes], weights: NDArray[np.int64], threads: int = 1) -> NDArray[np.uint32]:
    """Return ``counts[A, i]``: the weight of all rows that agree with row i in every column of subset A.

    >>> import numpy as np
    >>> age, sex = np.array([30, 30, 40], np.uint8), np.array([0, 1, 1], np.uint8)
    >>> subset_counts([age, sex], np.array([5, 1, 1])).tolist()
    [[7, 7, 7], [6, 6, 1], [5, 2, 2], [5, 1, 1]]
    """
    rows, number = len(weights), len(columns)
    if number > MOST:
        raise ValueError(f"at most {MOST} columns")
    if int(weights.sum()) >= 1 << 32:
        raise ValueError("more rows than a count of 32 bits can hold")
    counts = np.empty((1 << number, rows), np.uint32)
    counts[0] = weights.sum()
    native = library.core()
    if native is None:
        _counts_numpy(columns, weights, counts)
    elif rows and number:
        _counts_native(native, columns, weights, counts, threads)
    return counts


def _counts_numpy(columns: Sequence[Codes], weights: NDArray[np.int64], counts: NDArray[np.uint32]) -> None:
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    for subset in range(1, len(counts)):
        held = [place for place in range(len(columns)) if subset >> place & 1]
        groups = group_rows([columns[place] for place in held], [sizes[place] for place in held], len(weights))
        counts[subset] = np.bincount(groups.ids, weights=weights)[groups.ids]


def _counts_native(
    native: ctypes.CDLL, columns: Sequence[Codes], weights: NDArray[np.int64], counts: NDArray[np.uint32], threads: int
) -> None:
    codes = np.stack([column.astype(np.uint32) for column in columns])
    heavy, rows, number = weights.astype(np.uint32), len(weights), len(columns)
    size = int(codes.max()) + 1

    def run(begin: int, end: int) -> None:
        levels = np.empty(2 * (number + 1) * (rows + 1), np.uint32)
        tally, seen = np.zeros(size, np.uint32), np.empty(size, np.uint32)
        pointers = [array.ctypes.data for array in (counts, levels, tally, seen)]
        native.shoal_subset_counts(codes.ctypes.data, heavy.ctypes.data, rows, number, begin, end, *pointers)

    # Half of all subsets have the first column, half of the others the second, …: two threads share them evenly so.
    parts = [(0, number)] if threads < 2 else [(0, 1), (1, number)]
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(lambda part: run(*part), parts))


def largest_share(
    counts: NDArray[np.uint32], sensitive: int, subsets: NDArray[np.uint32], rows: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """Return, for some rows, the subset A of a list with the largest ``counts[A ∪ sensitive] / counts[A]``.

    ``sensitive``: the column. None of the subsets may hold it. Of several such subsets, the first in the list.

    >>> import numpy as np
    >>> counts = subset_counts([np.array([0, 0, 1]), np.array([0, 1, 1])], np.array([5, 1, 1]))
    >>> largest_share(counts, 1, np.array([0, 1], np.uint32), np.arange(3, dtype=np.uint32)).tolist()
    [1, 0, 1]
    """
    best = np.zeros(len(rows), np.uint32)
    bit, native = 1 << sensitive, library.core()
    if native is None:
        shares = np.zeros(len(rows))
        for subset in subsets:
            share = counts[subset | bit][rows] / counts[subset][rows]
            best, shares = np.where(share > shares, subset, best), np.maximum(share, shares)
        return best.astype(np.uint32)
    rows, subsets = np.ascontiguousarray(rows, np.uint32), np.ascontiguousarray(subsets, np.uint32)
    native.shoal_subset_largest(
        counts.ctypes.data,
        counts.shape[1],
        rows.ctypes.data,
        len(rows),
        subsets.ctypes.data,
        len(subsets),
        bit,
        best.ctypes.data,
    )
    return best
