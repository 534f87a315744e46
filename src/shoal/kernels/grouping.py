"""Grouping: rows with equal codes receive the same id; ids ascend with the codes, independently of the row order."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.interning import intern_keys
from shoal.kernels.library import address
from shoal.kernels.ordering import order
from shoal.kernels.packing import KEY_SPACE, fitting, pack
from shoal.kernels.translation import Codes, translate

# Up to this number of possible keys (or twice the number of rows), direct addressing is faster than hashing.
DIRECT_SPACE = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Groups of rows.

    ``ids[i]``: the group of row i. ``counts[g]``: the size of group g. ``first[g]``: the first row of group g.
    """

    ids: NDArray[np.uint32]
    counts: NDArray[np.int64]
    first: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def ordinals(self) -> NDArray[np.uint64]:
        """Per row, the number of rows of the same group before it.

        >>> import numpy as np
        >>> group(np.array([9, 4, 9, 9], np.uint64)).ordinals.tolist()
        [0, 0, 1, 2]
        """
        if len(self) == len(self.ids):  # all rows differ
            return np.zeros(len(self.ids), np.uint64)
        ordinals = np.empty(len(self.ids), np.uint64)
        ordinals[np.argsort(self.ids, kind="stable")] = each_times(self.counts)
        return ordinals


def each_times(counts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the numbers from 0 to each count, exclusive, concatenated.

    >>> import numpy as np
    >>> each_times(np.array([2, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    ends = np.cumsum(counts)
    return (np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)).astype(np.uint64)


def group(keys: NDArray[np.uint64], space: int = KEY_SPACE) -> Groups:
    """Group equal keys, which are all below ``space``. Groups are in ascending order of their keys.

    >>> import numpy as np
    >>> groups = group(np.array([9, 4, 9, 9], np.uint64))
    >>> groups.ids.tolist(), groups.counts.tolist(), groups.first.tolist()
    ([1, 0, 1, 1], [1, 3], [1, 0])
    """
    if keys.dtype != np.uint64:
        raise TypeError(f"keys are unsigned integers of 64 bits, not {keys.dtype}")
    native, keys = library.core(), np.ascontiguousarray(keys)
    if native is None:
        if len(keys) and int(keys.max()) >= space:
            raise IndexError("a key lies outside the space of keys")
        return _group_numpy(keys)
    if _is_direct(space, len(keys)):
        dense = _dense_direct(native, keys, space)
    else:
        dense = _dense_ascending(keys) if (keys[1:] >= keys[:-1]).all() else _dense_hashed(keys)
    return _tally(native, *dense)


def group_rows(columns: Sequence[Codes], sizes: Sequence[int], rows: int) -> Groups:
    """Group equal rows of codes in lexicographic order; column j contains codes below ``sizes[j]``.

    Keys wider than 64 bits are refined: the columns that fit are grouped first, and their group ids replace them in the
    next key. Without columns, all rows form one group.

    >>> import numpy as np
    >>> sex, age = np.array([0, 1, 0], np.uint8), np.array([40, 31, 40], np.uint8)
    >>> group_rows([sex, age], [2, 90], rows=3).counts.tolist()
    [2, 1]
    """
    columns, sizes = list(columns), [max(size, 1) for size in sizes]
    if not columns:
        columns, sizes = [np.zeros(rows, np.uint8)], [1]
    done, space = fitting(sizes, 0)
    groups = group(pack(columns[:done], sizes[:done]), space)
    while done < len(columns) and len(groups) < rows:  # once all rows differ, further columns change nothing
        end, space = fitting(sizes, done, max(len(groups), 1))
        start = groups.ids.astype(np.uint64)
        groups = group(pack(columns[done:end], sizes[done:end], start), space)
        done = end
    return groups


def changes(columns: Sequence[NDArray[Any]], rows: int) -> NDArray[np.bool_]:
    """Return a mask of the rows that differ from the previous row in any column; False for the first row.

    >>> import numpy as np
    >>> changes([np.array([1, 1, 2]), np.array([5, 6, 6])], 3).tolist()
    [False, True, True]
    """
    new = np.zeros(rows, bool)
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


def _is_direct(space: int, rows: int) -> bool:
    return space <= max(DIRECT_SPACE, 2 * rows) and space < 1 << 32


def _group_numpy(keys: NDArray[np.uint64]) -> Groups:
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return Groups(inverse.astype(np.uint32), counts.astype(np.int64), first.astype(np.int64))


def _dense_direct(native: ctypes.CDLL, keys: NDArray[np.uint64], space: int) -> tuple[NDArray[np.uint32], int]:
    table, ids = np.zeros(space, np.uint32), np.empty(len(keys), np.uint32)
    count = native.shoal_group_direct(address(keys), len(keys), address(table), space, address(ids))
    if count < 0:
        raise IndexError("a key lies outside the space of keys")
    return ids, int(count)


def _dense_ascending(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], int]:
    new = np.ones(len(keys), np.uint32)
    new[1:] = keys[1:] != keys[:-1]
    ids = np.cumsum(new, dtype=np.uint32) - np.uint32(1)
    return ids, int(ids[-1]) + 1 if len(ids) else 0


def _dense_hashed(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], int]:
    codes, distinct = intern_keys(keys)
    rank = np.zeros(len(distinct) + 1, np.uint32)
    rank[order(distinct).astype(np.intp) + 1] = np.arange(len(distinct), dtype=np.uint32)
    ids = np.empty(len(keys), np.uint32)
    translate(codes, rank, ids)
    return ids, len(distinct)


def _tally(native: ctypes.CDLL, ids: NDArray[np.uint32], count: int) -> Groups:
    counts, first = np.zeros(count, np.int64), np.empty(count, np.int64)
    native.shoal_tally(address(ids), len(ids), address(counts), address(first))
    return Groups(ids, counts, first)
