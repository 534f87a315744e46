"""Interning: values become codes 1, 2, 3, … in order of first appearance; 0 stands for missing.

An interner is fed block by block, so a file is encoded while it is read and never held as text.
"""

import ctypes
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.kernels import library

_Item = TypeVar("_Item", bound=np.generic)


class TextInterner(Protocol):
    """Text in blocks in, codes out; knows the distinct values so far."""

    def add(self, block: pa.StringArray) -> NDArray[np.uint32]:
        """Return a code for each value of the block."""
        ...

    def __len__(self) -> int:
        """Return the number of distinct values so far."""
        ...

    def values(self) -> pa.LargeStringArray:
        """Return the distinct values; the first has code 1."""
        ...


def text_interner() -> TextInterner:
    """Return an empty interner.

    >>> import pyarrow as pa
    >>> interner = text_interner()
    >>> interner.add(pa.array(["b", None, "a", "b"])).tolist()
    [1, 0, 2, 1]
    >>> interner.values().to_pylist()
    ['b', 'a']
    """
    native = library.core()
    return _PythonInterner() if native is None else _NativeInterner(native)


class _PythonInterner:
    """The twin: Arrow reduces each block to its distinct values, a dict joins the blocks."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def add(self, block: pa.StringArray) -> NDArray[np.uint32]:
        encoded = block.dictionary_encode()
        known = self._codes
        distinct = [known.setdefault(value, len(known) + 1) for value in encoded.dictionary.to_pylist()]
        table = np.array([0, *distinct], np.uint32)
        codes: NDArray[np.uint32] = table[encoded.indices.fill_null(-1).to_numpy() + 1]
        return codes

    def __len__(self) -> int:
        return len(self._codes)

    def values(self) -> pa.LargeStringArray:
        return pa.array(list(self._codes), pa.large_string())


class _NativeInterner:
    """The C kernel over buffers that numpy owns and that grow when they are full."""

    def __init__(self, native: ctypes.CDLL) -> None:
        self._native = native
        self._slots = np.zeros(1 << 10, np.uint64)
        self._ends = np.zeros((1 << 9) + 1, np.int64)  # one more than the slots may hold
        self._text = np.empty(1 << 12, np.uint8)
        self._used = np.zeros(2, np.int64)

    def add(self, block: pa.StringArray) -> NDArray[np.uint32]:
        codes = np.empty(len(block), np.uint32)
        validity, offsets, text = block.buffers()
        if len(block) == 0:
            return codes
        done = 0
        while done < len(block):
            at = block.offset + done
            done += self._native.shoal_intern_text(
                text.address if text is not None else None,
                offsets.address + 4 * at,
                validity.address if validity is not None else None,
                at,
                len(block) - done,
                self._slots.ctypes.data,
                len(self._slots),
                self._text.ctypes.data,
                len(self._text),
                self._ends.ctypes.data,
                self._used.ctypes.data,
                codes.ctypes.data + 4 * done,
            )
            if done < len(block):
                self._grow(block[done])
        return codes

    def _grow(self, refused: pa.StringScalar) -> None:
        """Make room for the value that did not fit."""
        count, used = (int(n) for n in self._used)
        needed = used + refused.as_buffer().size
        if needed > len(self._text):
            self._text = _enlarged(self._text, max(needed, 2 * len(self._text)))
        if 2 * (count + 1) > len(self._slots):
            size = len(self._slots) * (4 if len(self._slots) < 1 << 18 else 2)
            self._ends = _enlarged(self._ends, size // 2 + 1)
            self._slots = np.zeros(size, np.uint64)
            self._native.shoal_rehash_text(
                self._text.ctypes.data, self._ends.ctypes.data, count, self._slots.ctypes.data, len(self._slots)
            )

    def __len__(self) -> int:
        return int(self._used[0])

    def values(self) -> pa.LargeStringArray:
        count, used = (int(n) for n in self._used)
        ends, text = self._ends[: count + 1].copy(), self._text[:used].copy()
        return pa.LargeStringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(text))


def _enlarged(array: NDArray[_Item], size: int) -> NDArray[_Item]:
    larger = np.empty(size, array.dtype)
    larger[: len(array)] = array
    return larger


def intern_keys(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """Return a code from 1 for each key, and the distinct keys in order of first appearance.

    >>> import numpy as np
    >>> codes, distinct = intern_keys(np.array([7, 3, 7], np.uint64))
    >>> codes.tolist(), distinct.tolist()
    ([1, 2, 1], [7, 3])
    """
    native = library.core()
    return _intern_keys_numpy(keys) if native is None else _intern_keys_native(native, keys)


def _intern_keys_numpy(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.uint32)
    rank[order] = np.arange(1, len(order) + 1, dtype=np.uint32)
    return rank[inverse], distinct[order]


def _intern_keys_native(native: ctypes.CDLL, keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    keys = np.ascontiguousarray(keys)
    codes = np.empty(len(keys), np.uint32)
    slots, dictionary = np.zeros(1 << 12, np.uint32), np.empty(1 << 11, np.uint64)
    used, done = np.zeros(1, np.int64), 0
    while done < len(keys):
        done += native.shoal_intern_keys(
            keys.ctypes.data + 8 * done,
            len(keys) - done,
            slots.ctypes.data,
            len(slots),
            dictionary.ctypes.data,
            used.ctypes.data,
            codes.ctypes.data + 4 * done,
        )
        if done < len(keys):
            dictionary, slots = _enlarged(dictionary, 4 * len(dictionary)), np.zeros(4 * len(slots), np.uint32)
            native.shoal_rehash_keys(dictionary.ctypes.data, int(used[0]), slots.ctypes.data, len(slots))
    return codes, dictionary[: int(used[0])].copy()
