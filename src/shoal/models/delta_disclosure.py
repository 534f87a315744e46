"""δ-disclosure privacy."""

from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf, log
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.classes.histogram import Histogram
from shoal.exact import Positive
from shoal.kernels.ratios import CLEAR
from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, AttributeModel, Better, Monotone, Number

_POWERS = 1000  # beyond this, exact powers become too long, and sixty decimals decide


@MODELS.register("delta-disclosure")
class DeltaDisclosure(AttributeModel):
    """The share of a sensitive value in a class differs from its share in the table by at most a factor.

    ``|log(q / p)| < δ`` for every value, where q is its share in the class and p its share in the table. Brickell &
    Shmatikov 2008. ``absent``: a value that a class lacks fails as published (its logarithm is infinite), or is ignored
    as in ARX. Attained: the number that δ must exceed, 0 or more; less is better.

    >>> import shoal
    >>> data = {"age": [34, 34, 71, 71], "dx": ["flu", "gout", "flu", "gout"]}
    >>> shoal.delta_disclosure(data, quasi=["age"], sensitive=["dx"])
    0.0
    """

    name: ClassVar[str] = "delta-disclosure"
    measured: ClassVar[Mapping[str, Better]] = {"delta": Better.LESS}

    strict: ClassVar[bool] = True

    delta: Positive | None = Field(default=None, description="maximum absolute logarithm of the ratio of the shares")
    base: Literal[2, 10, "e"] = Field(default=2, description="base of the logarithm")
    absent: Literal["fail", "ignore"] = Field(
        default="fail", description="a value that a class lacks: fail violates the requirement, ignore omits the value"
    )

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the largest absolute logarithm, or infinity if a class lacks a value."""
        logarithms = self._logarithms(evidence.histogram)
        return {"delta": inf if self._lacking(evidence.histogram).any() else float(logarithms.max())}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes that change the probability of a value too much."""
        histogram, bound = evidence.histogram, Fraction(0) if self.delta is None else self.delta
        logarithms = self._logarithms(histogram)
        reached = logarithms >= float(bound)
        close = np.flatnonzero(np.abs(logarithms - float(bound)) <= CLEAR * max(float(bound), 1.0))
        ratios = _ratios(histogram, close)
        decided = {ratio: _reaches(ratio, self.base, bound) for ratio in set(ratios)}
        reached[close] = [decided[ratio] for ratio in ratios]
        return self._lacking(histogram) | np.logical_or.reduceat(reached, histogram.starts[:-1])

    def monotone(self, *, overlap: bool = False) -> Monotone:
        """Return the properties that a search may rely on.

        If absent values are ignored, a merged class may contain a value that is too rare in it.
        """
        return Monotone(generalisation=self.absent == "fail" and not overlap, suppression=False)

    def _logarithms(self, histogram: Histogram) -> NDArray[np.float64]:
        shares = histogram.counts / histogram.spread(histogram.totals())
        expected = histogram.reference[histogram.codes] / histogram.reference.sum()
        with np.errstate(divide="ignore"):
            natural = np.abs(np.log(shares / expected))
        return np.asarray(natural if self.base == "e" else natural / log(self.base), np.float64)

    def _lacking(self, histogram: Histogram) -> NDArray[np.bool_]:
        """Return the mask of classes that lack a value of the table; none if absent values are ignored."""
        if self.absent == "ignore":
            return np.zeros(len(histogram.starts) - 1, bool)
        return np.asarray(histogram.distinct() < np.count_nonzero(histogram.reference))


def _ratios(histogram: Histogram, entries: NDArray[np.intp]) -> list[Fraction]:
    """Return the larger of q / p and its inverse, for each entry."""
    everybody, totals = int(histogram.reference.sum()), histogram.totals()[histogram.classes[entries]]
    expected = histogram.reference[histogram.codes[entries]]
    ratios = [
        Fraction(count * everybody, total * before)
        for count, total, before in zip(
            histogram.counts[entries].tolist(), totals.tolist(), expected.tolist(), strict=True
        )
    ]
    return [max(ratio, 1 / ratio) for ratio in ratios]


def _reaches(ratio: Fraction, base: int | str, bound: Fraction) -> bool:
    """Return whether the logarithm of a ratio is at least the bound."""
    if isinstance(base, int) and max(bound.numerator, bound.denominator) <= _POWERS:
        return bool(ratio**bound.denominator >= Fraction(base) ** bound.numerator)
    with localcontext(prec=60):
        natural = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        scaled = natural / Decimal(base).ln() if isinstance(base, int) else natural
        return scaled >= Decimal(bound.numerator) / Decimal(bound.denominator)
