"""Entropy l-diversity."""

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.classes.histogram import Histogram
from shoal.kernels.ratios import CLEAR
from shoal.models.evidence import Evidence
from shoal.models.exact import AtLeastOne
from shoal.models.model import MODELS, AttributeModel, Better, Number


@MODELS.register("entropy-l-diversity")
class EntropyLDiversity(AttributeModel):
    """The sensitive values of every class are as mixed as l equally frequent ones.

    ``exp(−Σ q ln q) ≥ l``, q the shares of the values in the class. Machanavajjhala et al. 2007. Attained: the smallest
    exp of the entropy, 1 or more; more is better. Where floats cannot tell whether l is reached, integers decide:
    ``n^n ≥ l^n · Π c^c`` for counts c that add up to n.

    >>> import shoal
    >>> data = {"age": [34, 34, 34], "dx": ["flu", "gout", "ms"]}
    >>> shoal.entropy_l_diversity(data, quasi=["age"], sensitive=["dx"])
    3.0
    """

    name: ClassVar[str] = "entropy-l-diversity"
    measured: ClassVar[Mapping[str, Better]] = {"l": Better.MORE}

    l: AtLeastOne | None = Field(default=None, description="how many equally frequent values they must be worth")  # noqa: E741

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the smallest exp of the entropy of a class."""
        return {"l": float(_worth(evidence.histogram).min())}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Tell which classes are not mixed enough."""
        histogram, bound = evidence.histogram, self.l or Fraction(1)
        worth = _worth(histogram)
        failing = worth < float(bound)
        for place in np.flatnonzero((np.abs(worth - float(bound)) <= CLEAR * float(bound)) & ~_uniform(histogram)):
            counts = histogram.counts[histogram.starts[place] : histogram.starts[place + 1]].tolist()
            failing[place] = not _reaches(counts, bound)
        return failing


def _uniform(histogram: Histogram) -> NDArray[np.bool_]:
    smallest = np.minimum.reduceat(histogram.counts, histogram.starts[:-1])
    return np.asarray(smallest == histogram.largest())


def _worth(histogram: Histogram) -> NDArray[np.float64]:
    """Return exp of the entropy of each class; exactly the number of values where all are equally frequent."""
    totals = histogram.totals()
    shares = histogram.counts / histogram.spread(totals)
    entropy = -np.add.reduceat(shares * np.log(shares), histogram.starts[:-1])
    return np.where(_uniform(histogram), histogram.distinct(), np.exp(entropy))


def _reaches(counts: list[int], bound: Fraction) -> bool:
    common = gcd(*counts)
    counts = [count // common for count in counts]
    total = sum(counts)
    needed: int = bound.numerator**total * prod(count**count for count in counts)
    return bool((total * bound.denominator) ** total >= needed)
