"""Keyed pseudonyms: identifiers that only the holder of the key can reproduce, and that cannot be reversed."""

import hmac
import os
import secrets
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shoal.errors import PolicyError, ReleaseError
from shoal.kernels.translation import Codes, narrowest
from shoal.policy.policy import Policy
from shoal.policy.pseudonyms import Keyed
from shoal.table.column import Column
from shoal.table.kind import Kind

SHORTEST_KEY = 16
_DIGITS = 20  # hexadecimal: 80 bits
_BETWEEN = "\x1f"


def key_of(policy: Policy, keyed: Keyed) -> bytes:
    """Read a key from the file or environment variable that the policy names. It must have at least 16 bytes."""
    file, variable = None if keyed.key_file is None else policy.beside(keyed.key_file), keyed.key_variable
    try:
        key = file.read_bytes().strip() if file is not None else os.environ[str(variable)].encode()
    except (OSError, KeyError):
        where = f"file '{file}'" if file is not None else f"variable '{variable}'"
        raise PolicyError("no-key", "The key cannot be read from the {where}.", where=where) from None
    if len(key) < SHORTEST_KEY:
        raise PolicyError(
            "short-key",
            "The key is shorter than {bytes} bytes.",
            remedy="Make one with: python -c 'import secrets; print(secrets.token_hex())'",
            bytes=SHORTEST_KEY,
        )
    return key


def pseudonym_key(policy: Policy) -> tuple[bytes, bool]:
    """Return the key of the pseudonyms of linked tables, and whether it is new, because the policy names none."""
    if policy.pseudonyms is not None:
        return key_of(policy, policy.pseudonyms), False
    return secrets.token_hex(32).encode(), True


def pseudonym(key: bytes, column: str, value: str) -> str:
    """Return the pseudonym of a value of a column: a truncated HMAC-SHA256.

    >>> pseudonym(b"0123456789abcdef", "patient", "P1") == pseudonym(b"0123456789abcdef", "patient", "P1")
    True
    >>> pseudonym(b"0123456789abcdef", "patient", "P1") == pseudonym(b"another key, as long", "patient", "P1")
    False
    """
    return hmac.new(key, f"{column}{_BETWEEN}{value}".encode(), "sha256").hexdigest()[:_DIGITS]


def pseudonymous(column: Column, key: bytes, invented: int = 0, domain: str | None = None) -> tuple[Column, Codes]:
    """Replace the values of a column by pseudonyms; return the new column, and the new code of each code.

    The codes are followed by those of ``invented`` further pseudonyms, which belong to no person. ``domain``: the
    domain of the values; columns of the same domain share their pseudonyms. The default is the name of the column.

    >>> column = Column("id", Kind.TEXT, pa.array(["P1", "P2"]))
    >>> made, codes = pseudonymous(column, b"0123456789abcdef", invented=1)
    >>> len(made.values), sorted(codes.tolist())
    (3, [0, 1, 2])
    """
    labels, where = column.labels().to_pylist(), domain or column.name
    fakes = [pseudonym(key, f"{where}{_BETWEEN}counterfeit", str(number)) for number in range(invented)]
    pseudonyms = [pseudonym(key, where, label) for label in labels[: len(column.values)]]
    texts = sorted({*pseudonyms, *fakes})
    if len(texts) < len(pseudonyms) + len(fakes):
        raise ReleaseError(
            "pseudonyms-collide",
            "Two values of column '{column}' have the same pseudonym.",
            remedy="Use another key.",
            column=column.name,
        )
    shown = Column(column.name, Kind.TEXT, pa.array(texts, pa.string()), column.missing, column.suppressed)
    place = {text: number for number, text in enumerate(texts)}
    tail = _tail(len(texts), column.missing + column.suppressed)
    codes = [*(place[text] for text in pseudonyms), *tail, *(place[text] for text in fakes)]
    return shown, np.array(codes, narrowest(max(shown.size, 1)))


def _tail(first: int, number: int) -> Sequence[int]:
    return range(first, first + number)
