"""Plain data: results as JSON types."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a value as JSON types; fractions become text, which is exact."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value


def in_numbers(value: Any) -> Any:
    """Return fractions as numbers, and infinity as text, because JSON has no number for it.

    >>> in_numbers({"t": Fraction(1, 4), "l": float("inf")})
    {'t': 0.25, 'l': 'infinity'}
    """
    if isinstance(value, Mapping):
        return {name: in_numbers(part) for name, part in value.items()}
    value = float(value) if isinstance(value, Fraction) else value
    return "infinity" if value == float("inf") else value
