"""Tallying: the frequency of each row of codes, block by block; only distinct rows are held in memory."""

import ctypes
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.interning import KeyInterner, key_interner
from shoal.kernels.library import address
from shoal.kernels.packing import KEY_SPACE, pack
from shoal.kernels.translation import Codes, narrowest

Counts = NDArray[np.int64]


class RowPlaces:
    """Numbers rows of codes from 0 in order of first appearance; column j contains codes below ``sizes[j]``.

    Keys wider than 64 bits are refined: the columns that fit are interned first, and their code replaces them in the
    next key.

    >>> import numpy as np
    >>> places = RowPlaces([2, 90])
    >>> places.of([np.array([0, 1], np.uint8), np.array([40, 31], np.uint8)]).tolist()
    [0, 1]
    >>> places.of([np.array([1, 1, 0], np.uint8), np.array([31, 32, 40], np.uint8)]).tolist()
    [1, 2, 0]
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = [max(size, 1) for size in sizes]
        self._parts = _parts(self._sizes)
        self._interners = [key_interner() for _ in self._parts]

    def __len__(self) -> int:
        """Return the number of distinct rows so far."""
        return len(self._interners[-1])

    def of(self, columns: Sequence[Codes]) -> NDArray[np.uint32]:
        """Return the number of each row of a block."""
        keys = _last_keys(columns, self._sizes, self._parts, self._interners[:-1])
        return self._interners[-1].add(keys) - np.uint32(1)


class RowTally:
    """Counts rows of codes; column j contains codes below ``sizes[j]``.

    >>> import numpy as np
    >>> tally = RowTally([2, 90])
    >>> tally.add([np.array([0, 1, 0], np.uint8), np.array([40, 31, 40], np.uint8)])
    >>> tally.add([np.array([1], np.uint8), np.array([31], np.uint8)])
    >>> codes, counts = tally.rows()
    >>> [column.tolist() for column in codes], counts.tolist()
    ([[0, 1], [40, 31]], [2, 2])
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = [max(size, 1) for size in sizes]
        self._parts = _parts(self._sizes)
        self._interners = [key_interner() for _ in self._parts[1:]]
        native = library.core()
        self._tally = _NumpyTally() if native is None else _NativeTally(native)

    def __len__(self) -> int:
        """Return the number of distinct rows so far."""
        return len(self._tally)

    def add(self, columns: Sequence[Codes]) -> None:
        """Add a block of rows."""
        self.count(self.keys(columns))

    def keys(self, columns: Sequence[Codes]) -> NDArray[np.uint64]:
        """Return the keys of the rows of a block; one thread may do so while another counts."""
        return _last_keys(columns, self._sizes, self._parts, self._interners)

    def count(self, keys: NDArray[np.uint64]) -> None:
        """Count the rows with the given keys."""
        self._tally.add(keys)

    def rows(self) -> tuple[tuple[Codes, ...], Counts]:
        """Return the distinct rows in ascending order, and the frequency of each. Can be called only once."""
        keys, counts = self._tally.taken()
        columns: list[Codes] = []
        for place in range(len(self._parts) - 1, -1, -1):
            begin, end = self._parts[place]
            for size in reversed(self._sizes[begin:end]):
                keys, digit = np.divmod(keys, np.uint64(size))
                columns.append(digit.astype(narrowest(size)))
            if place:
                keys = self._interners[place - 1].keys()[keys - np.uint64(1)]
        columns.reverse()
        if len(self._parts) == 1:
            return tuple(columns), counts
        order = np.lexsort(columns[::-1])  # interned codes ascend by first appearance, not by row
        return tuple(column[order] for column in columns), counts[order]


def _last_keys(
    columns: Sequence[Codes],
    sizes: Sequence[int],
    parts: Sequence[tuple[int, int]],
    interners: Sequence[KeyInterner],
) -> NDArray[np.uint64]:
    """Return the key of each row, in which the codes of the interners represent all parts but the last."""
    start: NDArray[np.uint64] | None = None
    for (begin, end), interner in zip(parts, interners, strict=False):
        start = interner.add(pack(columns[begin:end], sizes[begin:end], start)).astype(np.uint64)
    begin, end = parts[-1]
    return pack(columns[begin:end], sizes[begin:end], start)


def _parts(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Divide columns into parts whose keys, together with the code of the preceding part, fit into 64 bits."""
    parts, begin, space = [], 0, 1
    for place, size in enumerate(sizes):
        if space * size > KEY_SPACE:
            parts.append((begin, place))
            begin, space = place, 1 << 32
        space *= size
    return [*parts, (begin, len(sizes))]


class _NumpyTally:
    """The numpy implementation: each block is reduced to its distinct keys and merged with the previous ones."""

    def __init__(self) -> None:
        self._keys = np.empty(0, np.uint64)
        self._counts = np.empty(0, np.int64)

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, keys: NDArray[np.uint64]) -> None:
        new, counts = np.unique(keys, return_counts=True)
        joined, place = np.unique(np.concatenate([self._keys, new]), return_inverse=True)
        summed = np.zeros(len(joined), np.int64)
        np.add.at(summed, place, np.concatenate([self._counts, counts]))
        self._keys, self._counts = joined, summed

    def taken(self) -> tuple[NDArray[np.uint64], Counts]:
        return self._keys, self._counts


class _NativeTally:
    """The C kernel with a hash table of keys and counts, which grows when it is full."""

    def __init__(self, native: ctypes.CDLL) -> None:
        self._native = native
        self._slots = np.zeros((1 << 12, 2), np.uint64)
        self._used = np.zeros(1, np.int64)

    def __len__(self) -> int:
        return int(self._used[0])

    def add(self, keys: NDArray[np.uint64]) -> None:
        keys, done = np.ascontiguousarray(keys, np.uint64), 0
        while done < len(keys):
            done += self._native.shoal_tally_keys(
                address(keys) + 8 * done,
                len(keys) - done,
                address(self._slots),
                len(self._slots),
                address(self._used),
            )
            if done < len(keys):
                self._grow()

    def _grow(self) -> None:
        larger = np.zeros((2 * len(self._slots), 2), np.uint64)
        self._native.shoal_retally_keys(address(self._slots), len(self._slots), address(larger), len(larger))
        self._slots = larger

    def taken(self) -> tuple[NDArray[np.uint64], Counts]:
        """Return the keys in ascending order with their counts, and reset the table."""
        filled = self._slots[self._slots[:, 1] > 0]
        self._slots, self._used = np.zeros((1 << 12, 2), np.uint64), np.zeros(1, np.int64)
        filled = filled[np.argsort(filled[:, 0])]
        return np.ascontiguousarray(filled[:, 0]), filled[:, 1].astype(np.int64)
