"""k-map."""

from bisect import bisect_left
from collections.abc import Mapping
from fractions import Fraction
from math import exp, expm1
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from shoal.exact import Share
from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, Better, Model, Need, Number


@MODELS.register("k-map")
class KMap(Model):
    """Every individual shares the quasi-identifiers with at least k − 1 others of the population.

    With a register: ``N ≥ k`` for every class, where N is its size in the register. Sweeney 2001. If only the size of
    the population or the sampling fraction π is known, N is estimated (El Emam & Dankar 2008): a class of n persons
    passes if ``n ≥ k``, or if n persons are improbable in a population class of only k:
    ``P(X ≥ n | X ≥ 1) ≤ significance`` for a Poisson X of mean k·π. Attained: the largest k that all classes reach;
    more is better.

    >>> import shoal
    >>> everybody = shoal.read({"age": [34, 34, 34, 71, 71]})
    >>> shoal.k_map({"age": [34, 71, 71]}, quasi=["age"], population=everybody)
    2
    """

    name: ClassVar[str] = "k-map"
    measured: ClassVar[Mapping[str, Better]] = {"k": Better.MORE}
    needs: ClassVar[frozenset[Need]] = frozenset({Need.POPULATION})
    counts_up: ClassVar[bool] = True

    k: int | None = Field(default=None, ge=1, strict=True, description="minimum class size in the population")
    significance: Share = Field(
        default=Fraction(1, 20),
        description="maximum probability that a class of fewer than k individuals in the population passes, if the "
        "frequencies in the population are estimated",
    )

    @field_validator("significance")
    @classmethod
    def _improbable(cls, significance: Fraction) -> Fraction:
        if not 0 < significance <= Fraction(1, 2):
            raise ValueError("must be more than 0 and at most 0.5")
        return significance

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the smallest class size in the population."""
        if evidence.matched is not None:
            return {"k": int(_people(evidence).min())}
        return {"k": self._estimated(int(evidence.classes.sizes.min()), float(evidence.fraction()))}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes that are too small in the population."""
        if evidence.matched is not None:
            return _people(evidence) < (self.k or 1)
        sizes, fraction = evidence.classes.sizes, float(evidence.fraction())
        values, place = np.unique(sizes, return_inverse=True)
        passes = [self._passes(int(size), self.k or 1, fraction) for size in values]
        return ~np.array(passes)[place]

    def enough(self, evidence: Evidence) -> int | None:
        """Return the class size from which on every class passes; None with a register.

        If N is estimated, a class passes whenever a smaller one does.
        """
        if evidence.matched is not None:
            return None
        fraction, k = float(evidence.fraction()), self.k or 1
        return bisect_left(range(1, k + 1), x=True, key=lambda size: self._passes(size, k, fraction)) + 1

    def _passes(self, size: int, k: int, fraction: float) -> bool:
        return size >= k or _at_least(size, k * fraction) <= self.significance

    def _estimated(self, size: int, fraction: float) -> int:
        """Return the largest k that a class of a size passes; the test becomes stricter as k grows."""
        low, high = size, size + 1
        while self._passes(size, high, fraction) and high < 1 << 40:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._passes(size, middle, fraction) else (low, middle)
        return low


def _people(evidence: Evidence) -> NDArray[np.int64]:
    """Return the size of each class in the register; persons of the table count even if the register lacks them."""
    return np.maximum(evidence.in_register().counts, evidence.classes.sizes)


def _at_least(count: int, mean: float) -> float:
    """Return P(X ≥ count | X ≥ 1) for a Poisson variable X."""
    term = below = 0.0
    for value in range(1, count):
        term = mean * exp(-mean) if value == 1 else term * mean / value
        below += term
    return max(0.0, 1 - below / -expm1(-mean))
