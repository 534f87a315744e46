"""Ratios: arrays of fractions of integers, compared without rounding.

A verdict must not depend on the rounding of floats: 1/11 is more than 0.09, and three quarters equal 0.75. Compared
values therefore remain pairs of integers; floats only decide the clear cases.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

# If two floats differ by more than this relative tolerance, their ratios differ in the same direction.
CLEAR = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """``numerators[i] / denominators[i]`` with positive denominators; integers of any size (``object``) are allowed.

    >>> import numpy as np
    >>> risks = Ratios(np.array([1, 1, 3]), np.array([11, 12, 4]))
    >>> risks.at_most(Fraction("0.09")).tolist(), risks.max(), risks.max() == Fraction("0.75")
    ([False, True, False], Fraction(3, 4), True)
    """

    numerators: NDArray[np.int64]
    denominators: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numerators)

    def floats(self) -> NDArray[np.float64]:
        """Return the nearest doubles, or approximations close to them."""
        return np.asarray(self.numerators / self.denominators, np.float64)

    def at_most(self, bound: Fraction) -> NDArray[np.bool_]:
        """Return a mask of the ratios that are at most the bound."""
        floats, limit = self.floats(), float(bound)
        below = floats <= limit
        close = np.flatnonzero(np.abs(floats - limit) <= CLEAR * max(abs(limit), 1.0))
        if len(close):
            up, down = _exact(self.numerators[close]), _exact(self.denominators[close])
            below[close] = up * bound.denominator <= down * bound.numerator
        return below

    def at_most_each(self, bounds: Sequence[Fraction], which: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Return a mask of the ratios that are at most their own bound: ratio i has the bound ``bounds[which[i]]``.

        >>> import numpy as np
        >>> shares = Ratios(np.array([1, 2]), np.array([3, 3]))
        >>> shares.at_most_each([Fraction(1, 3), Fraction(1, 2)], np.array([0, 1])).tolist()
        [True, False]
        """
        floats, limits = self.floats(), np.array([float(bound) for bound in bounds])[which]
        below: NDArray[np.bool_] = floats <= limits
        floats -= limits
        close = np.flatnonzero(np.abs(floats, out=floats) <= CLEAR * np.maximum(limits, 1.0, out=limits))
        if len(close):
            up, down = _exact(self.numerators[close]), _exact(self.denominators[close])
            numerators, denominators = (
                np.array([getattr(bound, part) for bound in bounds], object)[which[close]]
                for part in ("numerator", "denominator")
            )
            below[close] = up * denominators <= down * numerators
        return below

    def below(self, bound: Fraction) -> NDArray[np.bool_]:
        """Return a mask of the ratios that are less than the bound."""
        return ~Ratios(-self.numerators, self.denominators).at_most(-bound)

    def max(self) -> Fraction:
        """Return the largest ratio."""
        return -Ratios(-self.numerators, self.denominators).min()

    def min(self) -> Fraction:
        """Return the smallest ratio."""
        floats = self.floats()
        close = np.flatnonzero(floats <= floats.min() + CLEAR * max(abs(floats.min()), 1.0))
        close = close[np.unique(floats[close], return_index=True)[1]] if self._told_apart_by_floats() else close
        pairs = set(zip(self.numerators[close].tolist(), self.denominators[close].tolist(), strict=True))
        return min(Fraction(up, down) for up, down in pairs)

    def sum(self) -> Fraction:
        """Return the sum of all ratios."""
        below, place = np.unique(self.denominators, return_inverse=True)
        above = np.zeros(len(below), np.int64 if self._adds_up() else object)
        np.add.at(above, place, self.numerators.astype(above.dtype, copy=False))
        terms = [Fraction(int(up), int(down)) for up, down in zip(above, below, strict=True)]
        while len(terms) > 1:  # pairwise: sequential sums would carry long denominators
            terms = [sum(terms[place : place + 2], Fraction(0)) for place in range(0, len(terms), 2)]
        return terms[0] if terms else Fraction(0)

    def _adds_up(self) -> bool:
        """Return whether the sum of all numerators fits into 64 bits."""
        return len(self) == 0 or int(np.abs(self.numerators).max()) < (1 << 62) // len(self)

    def _told_apart_by_floats(self) -> bool:
        """Return whether different ratios have different floats.

        Different ratios differ by at least 1 / (product of denominators).
        """
        largest = int(max(np.abs(self.numerators).max(), 1)) * int(self.denominators.max())
        return largest < 1 << 50


def _exact(numbers: NDArray[np.int64]) -> NDArray[np.object_]:
    """Return the numbers as integers of arbitrary precision."""
    return numbers.astype(object)
