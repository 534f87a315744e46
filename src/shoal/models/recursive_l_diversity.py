"""Recursive (c, l)-diversity."""

from collections.abc import Mapping
from fractions import Fraction
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.classes.histogram import Histogram
from shoal.exact import Positive
from shoal.kernels.ratios import Ratios
from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, AttributeModel, Better, Number


@MODELS.register("recursive-l-diversity")
class RecursiveLDiversity(AttributeModel):
    """The most frequent sensitive value of a class is not too frequent, even if l − 2 other values are ruled out.

    With counts ``r₁ ≥ r₂ ≥ … ≥ r_m`` of the values in a class: ``r₁ < c · (r_l + … + r_m)``. Machanavajjhala et al.
    2007. Attained for a given l: the number that c must exceed, infinite if a class has fewer than l values; less is
    better.

    >>> import shoal
    >>> data = {"age": [34] * 10, "dx": ["flu"] * 7 + ["gout"] * 2 + ["ms"]}
    >>> shoal.recursive_l_diversity(data, quasi=["age"], sensitive=["dx"], l=3)
    7.0
    """

    name: ClassVar[str] = "recursive-l-diversity"
    notation: ClassVar[str] = (
        "c: the most frequent value occurs less than c times as often as the l-th and all rarer values together"
    )
    measured: ClassVar[Mapping[str, Better]] = {"c": Better.LESS}
    averages: ClassVar[bool] = True

    strict: ClassVar[bool] = True
    always: ClassVar[tuple[str, ...]] = ("l",)

    c: Positive | None = Field(default=None, description="maximum ratio of the most frequent value to the rest")
    l: int = Field(  # noqa: E741 - the name in the paper
        default=2,
        ge=1,
        strict=True,
        description="the most frequent value is compared with the sum of the l-th and all rarer values",
    )

    @property
    def distinct(self) -> float:
        """The minimum number of distinct sensitive values in a class."""
        return self.l

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the number that c must exceed."""
        largest, rest = _parts(evidence.histogram, self.l)
        return {"c": Ratios(largest, rest).max() if rest.all() else inf}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes with too frequent a value."""
        largest, rest = _parts(evidence.histogram, self.l)
        below: NDArray[np.bool_] = Ratios(largest, np.maximum(rest, 1)).below(self.c or Fraction(0))
        return np.asarray(~below | (rest == 0))


def _parts(histogram: Histogram, l: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # noqa: E741
    """Return, for each class, the largest count and the sum of the counts from the l-th largest on."""
    descending = histogram.counts[np.lexsort((-histogram.counts, histogram.classes))]
    place = np.arange(len(descending)) - histogram.starts[histogram.classes]
    return histogram.largest(), histogram.summed(np.where(place >= l - 1, descending, 0))
