"""Drawing: chance that only the holder of a key can foresee.

Who is in a sample, and which values counterfeits get, must not follow from a number that an adversary could guess. All
of it comes from SHAKE-256, read as a stream of 64-bit numbers that hangs on the key and on what is drawn.
"""

import hashlib
import secrets

import numpy as np
from numpy.typing import NDArray

from shoal.policy.policy import Policy
from shoal.release.pseudonyms import key_of


def draw_key(policy: Policy) -> tuple[bytes, bool]:
    """Return the key that draws: that of the policy, or a fresh one; and whether it is fresh."""
    if policy.draw is not None:
        return key_of(policy, policy.draw), False
    return secrets.token_hex(32).encode(), True


def drawn_numbers(key: bytes, purpose: str, number: int) -> NDArray[np.uint64]:
    """Return so many numbers of 64 bits; the same key and purpose give the same ones.

    >>> drawn_numbers(b"a key", "sample", 2).tolist() == drawn_numbers(b"a key", "sample", 3)[:2].tolist()
    True
    >>> drawn_numbers(b"a key", "sample", 2).tolist() == drawn_numbers(b"another", "sample", 2).tolist()
    False
    """
    start = len(key).to_bytes(8, "little") + key + purpose.encode()
    return np.frombuffer(hashlib.shake_256(start).digest(8 * number), "<u8").astype(np.uint64)
