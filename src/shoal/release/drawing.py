"""Random draws under a secret key.

The members of a sample and the values of counterfeits must not be predictable from a seed that an adversary can guess.
Draws use SHAKE-256 as a stream of 64-bit numbers, derived from the key and the purpose of the draw.
"""

import hashlib
import secrets

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.siphash import SipKey
from shoal.policy.policy import Policy
from shoal.release.pseudonyms import key_of


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


def drawn_numbers(key: bytes, purpose: str, number: int) -> NDArray[np.uint64]:
    """Return ``number`` 64-bit integers, determined by key and purpose.

    >>> drawn_numbers(b"a key", "sample", 2).tolist() == drawn_numbers(b"a key", "sample", 3)[:2].tolist()
    True
    >>> drawn_numbers(b"a key", "sample", 2).tolist() == drawn_numbers(b"another", "sample", 2).tolist()
    False
    """
    start = len(key).to_bytes(8, "little") + key + purpose.encode()
    return np.frombuffer(hashlib.shake_256(start).digest(8 * number), "<u8").astype(np.uint64)
