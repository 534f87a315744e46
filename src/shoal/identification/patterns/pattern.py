"""Pattern of values: a regular expression, and a check where one exists."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.registry import Registry

Mask = NDArray[np.bool_]
Digits = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Pattern of identifying values.

    ``concept``: the concept of a column whose values match. ``says``: a description of the values. ``shape``: a regular
    expression for the whole value. ``check``: returns a mask of the valid values among those that match the shape, from
    their characters without the parts that match ``apart``. ``digits``: whether the check verifies check digits, or a
    less certain criterion. ``followed``: the minimum share of matching values. ``single``: the minimum share of records
    with a unique value. ``fewest``: the minimum number of matching values, for patterns without check digits. ``sure``:
    whether matching values can hardly be anything else.
    """

    name: str
    concept: str
    says: str
    shape: str
    check: Callable[[NDArray[np.str_]], Mask] | None = None
    apart: str = r"[\s.\-/]"
    digits: bool = True
    followed: float = 0.9
    single: float = 0.0
    fewest: int = 2
    sure: bool = True

    @property
    def checked(self) -> bool:
        """Whether the values have a checksum."""
        return self.check is not None and self.digits

    def matches(self, texts: pa.StringArray) -> Mask:
        """Return a mask of the values that match the pattern.

        >>> import pyarrow as pa
        >>> PATTERNS["e-mail"].matches(pa.array(["a@b.org", "a at b"])).tolist()
        [True, False]
        """
        shaped: Mask = (
            pc.match_substring_regex(texts, f"^(?:{self.shape})$").to_numpy(zero_copy_only=False).astype(bool)
        )
        if self.check is not None and shaped.any():
            plain = [re.sub(self.apart, "", text).upper() for text in texts.filter(pa.array(shaped)).to_pylist()]
            shaped[shaped] = self.check(np.array(plain))
        return shaped


PATTERNS: Registry[Pattern] = Registry("pattern", "shoal.identification.patterns")


def digits(texts: NDArray[np.str_]) -> Digits:
    """Return the digits of texts of equal length, one row for each text.

    >>> digits(np.array(["12", "30"])).tolist()
    [[1, 2], [3, 0]]
    """
    length = len(texts[0])
    return texts.astype(f"U{length}").view("U1").reshape(len(texts), length).astype(np.int64)


def modulo(texts: NDArray[np.str_], by: int) -> Digits:
    """Return the remainders of numbers of any length, given as text.

    >>> modulo(np.array(["98765432109876543210"]), 97).tolist()
    [62]
    """
    return np.array([int(text) % by for text in texts.tolist()], np.int64)


def luhn(texts: NDArray[np.str_]) -> Mask:
    """Return a mask of the numbers that pass the check of Luhn 1960: every second digit from the right is doubled.

    >>> luhn(np.array(["79927398713", "79927398710"])).tolist()
    [True, False]
    """
    sums = np.zeros(len(texts), np.int64)
    for place, text in enumerate(texts.tolist()):
        doubled = [int(digit) * (2 if at % 2 else 1) for at, digit in enumerate(reversed(text))]
        sums[place] = sum(number - 9 if number > 9 else number for number in doubled)
    return np.asarray(sums % 10 == 0)
