"""Interning: values are mapped to codes 1, 2, 3, … in order of first appearance; 0 represents missing values.

An interner processes blocks, so a file is encoded while it is read and never held in memory as text.
"""

import ctypes
from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.cells import CellTexts, Pointers
from shoal.kernels.library import address

_Item = TypeVar("_Item", bound=np.generic)
_FEWEST_SLOTS, _SLOTS_AT_ONCE = 1 << 12, 1 << 17  # initial slots for keys: minimum and maximum


class TextInterner(Protocol):
    """Maps blocks of text to codes, and holds the entries so far."""

    def add(self, cells: CellTexts) -> NDArray[np.uint32]:
        """Return the code of each cell of a block."""
        ...

    def append(self, cells: CellTexts) -> NDArray[np.uint32]:
        """Make every cell a separate entry, for values that hardly ever repeat.

        ``add`` must not be called afterwards.
        """
        ...

    def __len__(self) -> int:
        """Return the number of entries so far."""
        ...

    def values(self) -> pa.LargeStringArray:
        """Return the entries, the first of which has code 1; they are valid until more are added."""
        ...


def text_interner() -> TextInterner:
    """Return an empty interner.

    >>> import pyarrow as pa
    >>> interner = text_interner()
    >>> interner.add(CellTexts.of(pa.array(["b", None, "a", "b"]))).tolist()
    [1, 0, 2, 1]
    >>> interner.append(CellTexts.of(pa.array([None, "a"]))).tolist()
    [0, 3]
    >>> interner.values().to_pylist()
    ['b', 'a', 'a']
    """
    native = library.core()
    return _PythonInterner() if native is None else _NativeInterner(native)


class _PythonInterner:
    """The Python implementation: Arrow reduces each block to its distinct values, a dict merges the blocks."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._appended: list[str] = []

    def add(self, cells: CellTexts) -> NDArray[np.uint32]:
        encoded = cells.to_arrow().dictionary_encode()
        known = self._codes
        distinct = [known.setdefault(value, len(known) + 1) for value in encoded.dictionary.to_pylist()]
        table = np.array([0, *distinct], np.uint32)
        codes: NDArray[np.uint32] = table[encoded.indices.fill_null(-1).to_numpy() + 1]
        return codes

    def append(self, cells: CellTexts) -> NDArray[np.uint32]:
        present = ~cells.missing()
        codes: NDArray[np.uint32] = np.where(present, len(self) + np.cumsum(present), 0).astype(np.uint32)
        self._appended += cells.to_arrow().drop_null().to_pylist()
        return codes

    def __len__(self) -> int:
        return len(self._codes) + len(self._appended)

    def values(self) -> pa.LargeStringArray:
        return pa.array([*self._codes, *self._appended], pa.large_string())


class _NativeInterner:
    """The C kernels with buffers owned by numpy, which grow when they are full."""

    def __init__(self, native: ctypes.CDLL) -> None:
        self._native = native
        self._slots = np.zeros(1 << 10, np.uint64)
        self._ends = np.zeros((1 << 9) + 1, np.int64)  # one more than the maximum number of entries
        self._text = np.empty(1 << 12, np.uint8)
        self._used = np.zeros(2, np.int64)

    def add(self, cells: CellTexts) -> NDArray[np.uint32]:
        return self._taken(cells, self._intern)

    def append(self, cells: CellTexts) -> NDArray[np.uint32]:
        self._slots = np.zeros(0, np.uint64)
        return self._taken(cells, self._append)

    def _taken(
        self, cells: CellTexts, take: Callable[[Pointers, int, int, NDArray[np.uint32]], int]
    ) -> NDArray[np.uint32]:
        codes = np.empty(len(cells), np.uint32)
        pointers, done = cells.pointers(), 0
        while done < len(cells):
            done = take(pointers, done, len(cells), codes)
            if done < len(cells):
                start, end = cells.bounds[done]
                self._grow(int(end) - int(start))
        return codes

    def _intern(self, cells: Pointers, done: int, rows: int, codes: NDArray[np.uint32]) -> int:
        taken: int = self._native.shoal_intern_text(
            ctypes.byref(cells),
            done,
            rows,
            address(self._slots),
            len(self._slots),
            address(self._text),
            len(self._text),
            address(self._ends),
            address(self._used),
            address(codes),
        )
        return taken

    def _append(self, cells: Pointers, done: int, rows: int, codes: NDArray[np.uint32]) -> int:
        taken: int = self._native.shoal_append_text(
            ctypes.byref(cells),
            done,
            rows,
            address(self._text),
            len(self._text),
            address(self._ends),
            len(self._ends),
            address(self._used),
            address(codes),
        )
        return taken

    def _grow(self, length: int) -> None:
        """Enlarge the buffers for a value of the given length that did not fit."""
        count, used = (int(n) for n in self._used)
        if used + length > len(self._text):
            self._text = _enlarged(self._text, max(used + length, 2 * len(self._text)), used)
        if len(self._slots) == 0 and count + 1 >= len(self._ends):
            self._ends = _enlarged(self._ends, 2 * len(self._ends), count + 1)
        elif 0 < len(self._slots) < 2 * (count + 1):
            size = len(self._slots) * (4 if len(self._slots) < 1 << 18 else 2)
            self._ends = _enlarged(self._ends, size // 2 + 1, count + 1)
            self._slots = np.zeros(size, np.uint64)
            self._native.shoal_rehash_text(
                address(self._text), address(self._ends), count, address(self._slots), len(self._slots)
            )

    def __len__(self) -> int:
        return int(self._used[0])

    def values(self) -> pa.LargeStringArray:
        count, used = (int(n) for n in self._used)
        return pa.LargeStringArray.from_buffers(
            count, pa.py_buffer(self._ends[: count + 1]), pa.py_buffer(self._text[:used])
        )


def _enlarged(array: NDArray[_Item], size: int, used: int) -> NDArray[_Item]:
    larger = np.empty(size, array.dtype)
    larger[:used] = array[:used]
    return larger


class KeyInterner(Protocol):
    """Maps blocks of keys to codes from 1, and holds the distinct keys so far."""

    def add(self, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """Return the code of each key of a block."""
        ...

    def __len__(self) -> int:
        """Return the number of distinct keys so far."""
        ...

    def keys(self) -> NDArray[np.uint64]:
        """Return the distinct keys in order of first appearance."""
        ...


def key_interner(expected: int = 0) -> KeyInterner:
    """Return an empty interner of keys, with capacity for the expected number of keys up to a limit.

    >>> import numpy as np
    >>> interner = key_interner()
    >>> interner.add(np.array([7, 3, 7], np.uint64)).tolist(), interner.add(np.array([3, 5], np.uint64)).tolist()
    ([1, 2, 1], [2, 3])
    >>> interner.keys().tolist()
    [7, 3, 5]
    """
    native = library.core()
    return _NumpyKeys() if native is None else _NativeKeys(native, expected)


def intern_keys(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """Return the code of each key, from 1, and the distinct keys in order of first appearance.

    >>> import numpy as np
    >>> codes, distinct = intern_keys(np.array([7, 3, 7], np.uint64))
    >>> codes.tolist(), distinct.tolist()
    ([1, 2, 1], [7, 3])
    """
    interner = key_interner(len(keys))
    return interner.add(keys), interner.keys()


class _NumpyKeys:
    """The numpy implementation: each block is reduced to its distinct keys, a dict merges the blocks."""

    def __init__(self) -> None:
        self._codes: dict[int, int] = {}

    def add(self, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        codes, known = np.empty(len(distinct), np.uint32), self._codes
        for place in np.argsort(first).tolist():
            codes[place] = known.setdefault(int(distinct[place]), len(known) + 1)
        return codes[inverse]

    def __len__(self) -> int:
        return len(self._codes)

    def keys(self) -> NDArray[np.uint64]:
        return np.fromiter(self._codes, np.uint64, len(self._codes))


class _NativeKeys:
    """The C kernel with buffers owned by numpy, which grow when they are full."""

    def __init__(self, native: ctypes.CDLL, expected: int) -> None:
        self._native = native
        slots = min(max(1 << (2 * expected).bit_length(), _FEWEST_SLOTS), _SLOTS_AT_ONCE)
        self._slots = np.zeros(slots, np.uint32)
        self._keys = np.empty(slots // 2, np.uint64)
        self._used = np.zeros(1, np.int64)

    def add(self, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
        keys = np.ascontiguousarray(keys, np.uint64)
        codes, done = np.empty(len(keys), np.uint32), 0
        while done < len(keys):
            done += self._native.shoal_intern_keys(
                address(keys) + 8 * done,
                len(keys) - done,
                address(self._slots),
                len(self._slots),
                address(self._keys),
                address(self._used),
                address(codes) + 4 * done,
            )
            if done < len(keys):
                self._grow()
        return codes

    def _grow(self) -> None:
        self._keys = _enlarged(self._keys, 4 * len(self._keys), len(self._keys))
        self._slots = np.zeros(4 * len(self._slots), np.uint32)
        self._native.shoal_rehash_keys(address(self._keys), int(self._used[0]), address(self._slots), len(self._slots))

    def __len__(self) -> int:
        return int(self._used[0])

    def keys(self) -> NDArray[np.uint64]:
        return self._keys[: len(self)].copy()
