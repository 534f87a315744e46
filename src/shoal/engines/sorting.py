"""Sorting on disk: records are distributed to files by range, and each file is sorted on its own."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines.disk import Spool, Spooled
from shoal.kernels.grouping import group_rows
from shoal.kernels.packing import KEY_SPACE, pack
from shoal.kernels.translation import Codes, narrowest

RANGE = 1 << 23  # maximum number of records sorted at a time
_EVERY = 1 << 10  # sampling interval of the keys that determine the bounds of the ranges
_BLOCK = 1 << 20

Types = Sequence[np.dtype[np.unsignedinteger[Any]]]


def sorted_on_disk(
    chunks: Iterator[tuple[Codes, ...]], sizes: Sequence[int], spool: Spool, most: int = RANGE
) -> list[list[Spooled]]:
    """Sort records of codes, about ``most`` at a time; return the files of each column, in order.

    >>> spool, records = Spool(), iter([(np.array([2, 0], np.uint8),), (np.array([1, 0], np.uint8),)])
    >>> [part.read(0, part.rows).tolist() for part in sorted_on_disk(records, [3], spool)[0]]
    [[0, 0, 1, 2]]
    """
    types = [narrowest(size) for size in sizes]
    leading = _leading(sizes)
    unsorted = _Files(spool, types)
    seen: list[NDArray[np.uint64]] = []
    for chunk in chunks:
        unsorted.add(chunk)
        seen.append(pack([codes[::_EVERY] for codes in chunk[:leading]], sizes[:leading]))
    bounds = _bounds(np.concatenate([np.empty(0, np.uint64), *seen]), -(-unsorted.rows // most))
    ranges = [_Files(spool, types) for _ in range(len(bounds) + 1)]
    for block in unsorted.blocks():
        which = np.searchsorted(bounds, pack(block[:leading], sizes[:leading]), side="right")
        for place in np.unique(which).tolist():
            mine = np.flatnonzero(which == place)
            ranges[place].add([codes[mine] for codes in block])
    unsorted.remove()
    spools: list[list[Spooled]] = [[] for _ in sizes]
    for files in ranges:
        columns = files.whole()
        files.remove()
        order = np.argsort(group_rows(columns, sizes, len(columns[0])).ids, kind="stable")
        for parts, codes, dtype in zip(spools, columns, types, strict=True):
            parts.append(spool.keep([codes[order]], dtype))
    return spools


def _leading(sizes: Sequence[int]) -> int:
    """Return the number of leading columns that fit into one key."""
    space = number = 1
    while number <= len(sizes) and space * sizes[number - 1] <= KEY_SPACE:
        space *= sizes[number - 1]
        number += 1
    return number - 1


def _bounds(sample: NDArray[np.uint64], ranges: int) -> NDArray[np.uint64]:
    """Return the bounds of ranges with about the same number of records each."""
    if ranges < 2:
        return np.empty(0, np.uint64)
    places = np.linspace(0, len(sample) - 1, ranges + 1).astype(np.int64)[1:-1]
    return np.unique(np.sort(sample)[places])


class _Files:
    """Records in files, one for each column, to which records are appended."""

    def __init__(self, spool: Spool, types: Types) -> None:
        self._types = types
        self._paths = [spool.file() for _ in types]
        self.rows = 0
        for path in self._paths:
            path.touch()

    def add(self, columns: Sequence[Codes]) -> None:
        self.rows += len(columns[0])
        for codes, path, dtype in zip(columns, self._paths, self._types, strict=True):
            with path.open("ab") as file:
                codes.astype(dtype, copy=False).tofile(file)

    def blocks(self) -> Iterator[list[Codes]]:
        for start in range(0, self.rows, _BLOCK):
            yield [
                np.fromfile(path, dtype, _BLOCK, offset=start * dtype.itemsize)
                for path, dtype in zip(self._paths, self._types, strict=True)
            ]

    def whole(self) -> list[Codes]:
        return [np.fromfile(path, dtype) for path, dtype in zip(self._paths, self._types, strict=True)]

    def remove(self) -> None:
        for path in self._paths:
            path.unlink()
