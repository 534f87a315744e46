"""Random draws under a secret key.

The members of a sample and the values of counterfeits must not be predictable from a seed that an adversary can guess.
Draws use SHAKE-256 as a stream of 64-bit numbers, derived from the key and the purpose of the draw.
"""

import hashlib
import secrets
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import Drawing, RecordIdentity
from shoal.kernels.siphash import SipKey, Words, siphash, siphash_texts
from shoal.kernels.translation import Codes
from shoal.policy.policy import Policy
from shoal.release.pseudonyms import key_of
from shoal.table.column import Column
from shoal.table.scale import doubles
from shoal.table.table import Table

PLACES = "places"  # the purpose of the random words of values that are released by bucket


def draw_key(policy: Policy) -> tuple[bytes, bool]:
    """Return the key of the policy, or a new random key, and whether the key is new."""
    if policy.draw is not None:
        return key_of(policy, policy.draw), False
    return secrets.token_hex(32).encode(), True


def stream_key(key: bytes, purpose: str) -> SipKey:
    """Return the key of a stream of random numbers, one number per record, for a purpose.

    >>> stream_key(b"a key", "noise of age") == stream_key(b"a key", "noise of weight")
    False
    """
    first, second = drawn_numbers(key, f"stream: {purpose}", 2).tolist()
    return first, second


def drawing(
    key: bytes, column: Column, draw: Callable[[Codes, Words], Codes], stream: str | None, salt: str = ""
) -> Drawing:
    """Return the random draw of the cells of a column.

    ``stream``: the stream that it shares with other columns. ``salt``: the options on which the random numbers depend.
    """
    purpose = f"cells of {column.name}" if stream is None else stream
    purpose = f"{purpose} ({salt})" if salt else purpose
    return Drawing(column.name, stream_key(key, purpose), draw, value_words(column) if stream is None else None)


def placing(key: bytes, column: Column, draw: Callable[[Codes, Words], Codes]) -> Drawing:
    """Return the bucket in which the values of a column have their places."""
    return drawing(key, column, draw, None, PLACES)


def drawn_numbers(key: bytes, purpose: str, number: int) -> NDArray[np.uint64]:
    """Return ``number`` 64-bit integers, determined by key and purpose.

    >>> drawn_numbers(b"a key", "sample", 2).tolist() == drawn_numbers(b"a key", "sample", 3)[:2].tolist()
    True
    >>> drawn_numbers(b"a key", "sample", 2).tolist() == drawn_numbers(b"another", "sample", 2).tolist()
    False
    """
    start = len(key).to_bytes(8, "little") + key + purpose.encode()
    return np.frombuffer(hashlib.shake_256(start).digest(8 * number), "<u8").astype(np.uint64)


def identity(table: Table) -> RecordIdentity:
    """Return the identity of records: the person; without a subject, all cells and the number among equal records."""
    names = table.names if table.subject is None else (table.subject,)
    return RecordIdentity({name: value_words(table[name]) for name in names}, repeats=table.subject is None)


def value_words(column: Column) -> Words:
    """Return a word for each code of a column, which depends on its value only; 0 for missing values.

    >>> import shoal
    >>> one, other = (shoal.read({"age": ages})["age"] for ages in ([30, 40], [20, 40]))
    >>> value_words(one)[1] == value_words(other)[1]
    np.True_
    """
    if not column.kind.numeric:
        return siphash_texts((0, 0), column.labels())
    numbers = doubles(column.values).to_numpy(zero_copy_only=False) + 0.0  # −0 equals 0
    tail = np.array([0] * column.missing + [1] * column.suppressed, np.uint64)
    return np.concatenate([siphash((0, 0), [numbers.view(np.uint64)]), tail])
