"""SipHash-2-4 of many messages at once: a keyed 64-bit pseudorandom function (Aumasson and Bernstein 2012).

Without the key, its output cannot be distinguished from random numbers. It serves as a counter-based random stream: the
same key and message give the same number, on every engine and in any order of records.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address

Words: TypeAlias = NDArray[np.uint64]
SipKey: TypeAlias = tuple[int, int]


def siphash(key: SipKey, words: Sequence[Words]) -> Words:
    """Return the hash of each message; message i consists of ``words[0][i]``, ``words[1][i]`` and so on.

    >>> key, message = (0x0706050403020100, 0x0F0E0D0C0B0A0908), np.array([0x0706050403020100], np.uint64)
    >>> [hex(number) for number in siphash(key, [message])]
    ['0x93f5f5799a932462']
    """
    number, native = len(words[0]) if words else 1, library.core()
    if native is not None:
        given = [np.ascontiguousarray(word, np.uint64) for word in words]
        pointers, hashes = np.array([address(word) for word in given], np.uintp), np.empty(number, np.uint64)
        halves = np.array(key, np.uint64)
        native.shoal_siphash(address(halves), address(pointers), len(given), number, address(hashes))
        return hashes
    state = _State(key, number)
    for word in words:
        state.add(word, slice(None))
    return state.finished(np.full(number, 8 * len(words), np.uint64), np.zeros(number, np.uint64))


def siphash_texts(key: SipKey, texts: pa.Array) -> Words:
    """Return the hash of each text by its UTF-8 bytes; 0 for a missing text.

    >>> siphash_texts((1, 2), pa.array(["a", None, "a"])).tolist() == [*siphash_texts((1, 2), pa.array(["a"])), 0,
    ...     *siphash_texts((1, 2), pa.array(["a"]))]
    True
    """
    large = texts.cast(pa.large_string())
    offsets = np.frombuffer(large.buffers()[1], np.int64, len(large) + 1, offset=8 * large.offset)
    data = np.frombuffer(large.buffers()[2] or b"", np.uint8)
    lengths = np.diff(offsets)
    padded = np.concatenate([data, np.zeros(8, np.uint8)])
    state = _State(key, len(large))
    for word in range(int(lengths.max(initial=0)) // 8):
        whole = np.flatnonzero(lengths >= 8 * (word + 1))
        state.add(_word(padded, offsets[whole] + 8 * word), whole)
    rest = _word(padded, offsets[:-1] + lengths // 8 * 8) & (
        (np.uint64(1) << (8 * (lengths % 8)).astype(np.uint64)) - np.uint64(1)
    )
    hashes = state.finished(lengths.astype(np.uint64), rest)
    return np.where(np.asarray(large.is_null()), np.uint64(0), hashes)


def _word(data: NDArray[np.uint8], starts: NDArray[np.int64]) -> Words:
    """Return the eight bytes from each start as a little-endian integer."""
    inside = np.minimum(starts, len(data) - 8)
    parts = data[inside[:, None] + np.arange(8)].astype(np.uint64)
    return np.asarray(np.bitwise_or.reduce(parts << (8 * np.arange(8, dtype=np.uint64)), axis=1), np.uint64)


class _State:
    """The four state words of many messages."""

    def __init__(self, key: SipKey, number: int) -> None:
        first, second = (np.uint64(part) for part in key)
        self._v = [
            np.full(number, first ^ np.uint64(0x736F6D6570736575)),
            np.full(number, second ^ np.uint64(0x646F72616E646F6D)),
            np.full(number, first ^ np.uint64(0x6C7967656E657261)),
            np.full(number, second ^ np.uint64(0x7465646279746573)),
        ]

    def add(self, word: Words, some: slice | NDArray[np.intp]) -> None:
        """Mix a word into the selected messages."""
        v = [part[some] for part in self._v]
        v[3] ^= word
        v = _rounds(v, 2)
        v[0] ^= word
        for part, mixed in zip(self._v, v, strict=True):
            part[some] = mixed

    def finished(self, lengths: Words, rest: Words) -> Words:
        """Mix in the remaining bytes and the length, and return the hashes."""
        everything = slice(None)
        self.add(rest | (lengths << np.uint64(56)), everything)
        v = [*self._v[:2], self._v[2] ^ np.uint64(0xFF), self._v[3]]
        v = _rounds(v, 4)
        return np.asarray(v[0] ^ v[1] ^ v[2] ^ v[3])


def _rounds(v: list[Words], number: int) -> list[Words]:
    a, b, c, d = v
    for _ in range(number):
        a, c = a + b, c + d
        b, d = _rotated(b, 13) ^ a, _rotated(d, 16) ^ c
        a, c = _rotated(a, 32) + d, c + b
        b, d = _rotated(b, 17) ^ c, _rotated(d, 21) ^ a
        c = _rotated(c, 32)
    return [a, b, c, d]


def _rotated(word: Words, bits: int) -> Words:
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))
