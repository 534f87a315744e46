"""β-likeness, basic and enhanced."""

from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.classes.histogram import Histogram
from shoal.exact import Positive
from shoal.kernels.ratios import CLEAR, Ratios
from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, AttributeModel, Better, Number


@MODELS.register("basic-beta-likeness")
class BasicBetaLikeness(AttributeModel):
    """The relative increase of the share of a sensitive value in a class over the table is at most β.

    ``(q − p) / p ≤ β`` for every value, where q is its share in the class and p its share in the table. Cao & Karras
    2012. Attained: the largest relative increase, 0 or more; less is better.

    >>> import shoal
    >>> data = {"age": [34, 34, 71, 71], "dx": ["flu", "flu", "flu", "gout"]}
    >>> shoal.basic_beta_likeness(data, quasi=["age"], sensitive=["dx"])
    1.0
    """

    name: ClassVar[str] = "basic-beta-likeness"
    measured: ClassVar[Mapping[str, Better]] = {"beta": Better.LESS}
    averages: ClassVar[bool] = True

    beta: Positive | None = Field(default=None, description="maximum relative increase of the share of a value")

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the largest relative increase; infinity if the table lacks a value of a class."""
        return {"beta": _gains(evidence.histogram).max() if _all_expected(evidence.histogram) else inf}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes in which a value is too probable."""
        return _classes_with(evidence.histogram, self._too_probable(evidence.histogram))

    def _too_probable(self, histogram: Histogram) -> NDArray[np.bool_]:
        """Return the mask of entries with q > (1 + β)·p; a value that the reference lacks always fails."""
        bound, everybody = 1 + (self.beta or 0), int(histogram.reference.sum())
        most = [bound * Fraction(count, everybody) for count in histogram.reference.tolist()]
        shares = Ratios(histogram.counts, histogram.spread(histogram.totals()))
        return ~shares.at_most_each(most, histogram.codes)


@MODELS.register("enhanced-beta-likeness")
class EnhancedBetaLikeness(BasicBetaLikeness):
    """Basic β-likeness with a tighter bound for frequent values.

    ``(q − p) / p ≤ min(β, −ln p)`` for every value separately. Cao & Karras 2012. Attained: the largest relative
    increase, or infinity if an increase exceeds −ln p, because then no β suffices; less is better.

    >>> import shoal
    >>> data = {"age": [34, 34, 71, 71], "dx": ["flu", "flu", "flu", "gout"]}
    >>> shoal.enhanced_beta_likeness(data, quasi=["age"], sensitive=["dx"])
    inf
    """

    name: ClassVar[str] = "enhanced-beta-likeness"

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the largest relative increase, or infinity if no β suffices."""
        return {"beta": inf} if _beyond_logarithm(evidence.histogram).any() else super().measure(evidence)

    def _too_probable(self, histogram: Histogram) -> NDArray[np.bool_]:
        return super()._too_probable(histogram) | _beyond_logarithm(histogram)


def _unexpected(histogram: Histogram) -> NDArray[np.bool_]:
    """Return the mask of entries with a value that the reference lacks."""
    if (histogram.reference > 0).all():
        return np.zeros(len(histogram.codes), bool)
    return np.asarray(histogram.reference[histogram.codes] == 0)


def _all_expected(histogram: Histogram) -> bool:
    return not _unexpected(histogram).any()


def _gains(histogram: Histogram) -> Ratios:
    """Return (q − p) / p for each entry."""
    expected = np.maximum(histogram.reference[histogram.codes], 1)
    everybody, totals = int(histogram.reference.sum()), histogram.spread(histogram.totals())
    kind = np.int64 if everybody * max(everybody, int(totals.max())) < 1 << 62 else object
    scaled = histogram.counts.astype(kind) * everybody
    before = expected.astype(kind) * totals
    return Ratios(scaled - before, before)


def _beyond_logarithm(histogram: Histogram) -> NDArray[np.bool_]:
    """Return the mask of entries with an increase above −ln p; decimals of sixty digits decide where floats cannot."""
    gains = _gains(histogram)
    expected, everybody = histogram.reference[histogram.codes], int(histogram.reference.sum())
    floats, limits = gains.floats(), -np.log(np.maximum(expected, 1) / everybody)
    beyond = np.asarray(floats > limits)
    for place in np.flatnonzero(np.abs(floats - limits) <= CLEAR * np.maximum(limits, 1)):
        with localcontext(prec=60):
            gain = Decimal(int(gains.numerators[place])) / Decimal(int(gains.denominators[place]))
            beyond[place] = gain > -(Decimal(int(expected[place])) / everybody).ln()
    return beyond


def _classes_with(histogram: Histogram, entries: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.logical_or.reduceat(entries, histogram.starts[:-1])
