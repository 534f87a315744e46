"""SipHash-2-4: the vectors of its authors, and a slow and obvious one."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.library import using
from shoal.kernels.siphash import siphash, siphash_texts

KEY = (0x0706050403020100, 0x0F0E0D0C0B0A0908)  # bytes 0 to 15
LOW = (1 << 64) - 1


def rotated(word, bits):
    return ((word << bits) | (word >> (64 - bits))) & LOW


def slow(key, message):
    """Aumasson and Bernstein 2012, section 2, word by word."""
    a, b, c, d = (part ^ constant for part, constant in zip(
        [key[0], key[1], key[0], key[1]],
        [0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573],
        strict=True,
    ))  # fmt: skip

    def mixed(a, b, c, d):
        a = (a + b) & LOW
        b = rotated(b, 13) ^ a
        a = rotated(a, 32)
        c = (c + d) & LOW
        d = rotated(d, 16) ^ c
        a = (a + d) & LOW
        d = rotated(d, 21) ^ a
        c = (c + b) & LOW
        b = rotated(b, 17) ^ c
        return a, b, rotated(c, 32), d

    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) % 256])
    for start in range(0, len(padded), 8):
        word = int.from_bytes(padded[start : start + 8], "little")
        d ^= word
        for _ in range(2):
            a, b, c, d = mixed(a, b, c, d)
        a ^= word
    c ^= 0xFF
    for _ in range(4):
        a, b, c, d = mixed(a, b, c, d)
    return a ^ b ^ c ^ d


def test_the_vectors_of_its_authors():
    assert slow(KEY, bytes(range(15))) == 0xA129CA6149BE45E5  # appendix A
    words = [np.array([int.from_bytes(bytes(range(8 * at, 8 * at + 8)), "little")], np.uint64) for at in range(2)]
    assert siphash(KEY, words[:1]).tolist() == [0x93F5F5799A932462]
    assert siphash(KEY, words).tolist() == [0x3F2ACC7F57C29BDB]


@given(st.lists(st.text(max_size=40) | st.none(), max_size=20), st.integers(0, 5))
def test_texts(texts, start):
    array = pa.array(texts, pa.string())[start:]
    expected = [0 if text is None else slow(KEY, text.encode()) for text in texts[start:]]
    assert siphash_texts(KEY, array).tolist() == expected


@given(st.lists(st.lists(st.integers(0, LOW), min_size=3, max_size=3), min_size=1, max_size=10))
def test_words(messages):
    columns = [np.array(column, np.uint64) for column in zip(*messages, strict=True)]
    expected = [slow(KEY, b"".join(word.to_bytes(8, "little") for word in message)) for message in messages]
    for kernels in ("numpy", "auto"):
        with using(kernels):
            assert siphash(KEY, columns).tolist() == expected
