"""Entropy l-diversity."""

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, prod
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.classes.histogram import Histogram
from shoal.exact import AtLeastOne
from shoal.kernels.ratios import CLEAR
from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, AttributeModel, Better, Monotone, Number


@MODELS.register("entropy-l-diversity")
class EntropyLDiversity(AttributeModel):
    """The entropy of the sensitive values of every class is at least that of l equally frequent values.

    ``exp(−Σ q ln q) ≥ l``, where q are the shares of the values in the class. Machanavajjhala et al. 2007. Attained:
    the smallest exponential of the entropy, 1 or more; more is better. Where floats cannot decide whether l is reached,
    integers do: ``n^n ≥ l^n · Π c^c`` for counts c that sum to n.

    ``estimator``: plug-in, or grassberger (2003), which corrects for small classes: ``G(n) − Σ c G(c) / n ≥ ln l`` with
    ``G(n) = ψ(n) + (−1)ⁿ/2 · (ψ((n + 1)/2) − ψ(n/2))``. In this case at least l distinct values are also required, as
    in ARX.

    >>> import shoal
    >>> data = {"age": [34, 34, 34], "dx": ["flu", "gout", "ms"]}
    >>> shoal.entropy_l_diversity(data, quasi=["age"], sensitive=["dx"])
    3.0
    """

    name: ClassVar[str] = "entropy-l-diversity"
    measured: ClassVar[Mapping[str, Better]] = {"l": Better.MORE}
    averages: ClassVar[bool] = True

    l: AtLeastOne | None = Field(default=None, description="minimum effective number of values")  # noqa: E741

    estimator: Literal["plug-in", "grassberger"] = Field(
        default="plug-in",
        description="estimator of the entropy: plug-in, from the shares in the class; or grassberger, corrected for "
        "small classes",
    )

    @property
    def distinct(self) -> float:
        """The minimum effective number of sensitive values in a class."""
        return float(self.l or 1)

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the smallest exponential of the entropy of a class."""
        worth = _worth if self.estimator == "plug-in" else _corrected
        return {"l": float(worth(evidence.histogram).min())}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes with too small an entropy."""
        histogram, bound = evidence.histogram, self.l or Fraction(1)
        if self.estimator == "grassberger":
            return np.asarray(_corrected(histogram) < float(bound))
        worth = _worth(histogram)
        failing = worth < float(bound)
        for place in np.flatnonzero((np.abs(worth - float(bound)) <= CLEAR * float(bound)) & ~_uniform(histogram)):
            counts = histogram.counts[histogram.starts[place] : histogram.starts[place + 1]].tolist()
            failing[place] = not _reaches(counts, bound)
        return failing

    def monotone(self, *, overlap: bool = False) -> Monotone:
        """Return the properties that a search may rely on.

        Entropy is concave, so merging cannot reduce it below the worst part; the corrected estimate has no such
        property.
        """
        if self.estimator == "grassberger":
            return Monotone(generalisation=False, suppression=False)
        return super().monotone(overlap=overlap)


def _uniform(histogram: Histogram) -> NDArray[np.bool_]:
    smallest = np.minimum.reduceat(histogram.counts, histogram.starts[:-1])
    return np.asarray(smallest == histogram.largest())


def _worth(histogram: Histogram) -> NDArray[np.float64]:
    """Return the exponential of the entropy of each class; exactly the number of values if all are equally frequent."""
    totals = histogram.totals()
    shares = histogram.counts / histogram.spread(totals)
    entropy = -np.add.reduceat(shares * np.log(shares), histogram.starts[:-1])
    return np.where(_uniform(histogram), histogram.distinct(), np.exp(entropy))


def _corrected(histogram: Histogram) -> NDArray[np.float64]:
    """Return the exponential of Grassberger's estimate, at most the number of distinct values."""
    totals = histogram.totals()
    weighted = histogram.counts * _grassberger(histogram.counts)
    entropy = _grassberger(totals) - np.add.reduceat(weighted, histogram.starts[:-1]) / totals
    return np.asarray(np.minimum(np.exp(entropy), histogram.distinct()))


def _grassberger(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return G of counts: G(1) = −γ − ln 2, G(2) = 2 + G(1), G(2n + 1) = G(2n), G(2n + 2) = G(2n) + 2/(2n + 1)."""
    most = int(counts.max(initial=1))
    steps = np.zeros(most + 2)
    steps[2::2] = 2 / np.arange(1, most + 1, 2)[: len(steps[2::2])]
    return np.asarray((np.cumsum(steps) - np.euler_gamma - np.log(2))[counts])


def _reaches(counts: list[int], bound: Fraction) -> bool:
    common = gcd(*counts)
    counts = [count // common for count in counts]
    total = sum(counts)
    needed: int = bound.numerator**total * prod(count**count for count in counts)
    return bool((total * bound.denominator) ** total >= needed)
