"""t-closeness."""

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.exact import Positive
from shoal.kernels.ratios import Ratios
from shoal.models.distance import divergence, equal_distance, hierarchical_distance, ordered_distance
from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, AttributeModel, Better, Number


class Distance(StrEnum):
    """Distance between two sensitive values."""

    EQUAL = "equal"
    ORDERED = "ordered"
    HIERARCHICAL = "hierarchical"
    KL = "kl"


@MODELS.register("t-closeness")
class TCloseness(AttributeModel):
    """The distribution of the sensitive values of every class is within distance t of that of the table.

    ``D(q, p) ≤ t``, where q are the shares in the class and p those in the table, suppressed records included. Li, Li &
    Venkatasubramanian 2007. D is the earth mover's distance: the mass moved, times the distance. ``equal``: all pairs
    of values have the same distance, ``½ Σ |q − p|``. ``ordered``: the distance of the ranks,
    ``Σ |cumulated q − p| / (m − 1)``. ``hierarchical``: the level of the lowest node that covers both values. ``kl``:
    the Kullback–Leibler divergence in nats, which the review of Olatunji 2021 also names. Attained: the largest
    distance, 0 to 1 (``kl``: 0 or more); less is better.

    >>> import shoal
    >>> data = {"age": [34, 34, 71, 71], "dx": ["flu", "flu", "flu", "gout"]}
    >>> shoal.t_closeness(data, quasi=["age"], sensitive=["dx"])
    0.25
    """

    name: ClassVar[str] = "t-closeness"
    measured: ClassVar[Mapping[str, Better]] = {"t": Better.LESS}
    averages: ClassVar[bool] = True

    t: Positive | None = Field(default=None, description="maximum distance of the distributions, 0 to 1")
    distance: Distance = Field(
        default=Distance.EQUAL,
        description="equal, ordered, hierarchical: earth mover's distance; kl: Kullback–Leibler divergence",
    )

    @model_validator(mode="after")
    def _within_reach(self) -> Self:
        if self.distance is not Distance.KL and self.t is not None and self.t > 1:
            raise ValueError("t must be between 0 and 1")
        return self

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the largest distance of a class from the table."""
        if self.distance is Distance.KL:
            return {"t": float(divergence(evidence.histogram).max())}
        return {"t": self._distances(evidence).max()}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes that are too far from the table."""
        bound = Fraction(0) if self.t is None else self.t
        if self.distance is Distance.KL:
            return divergence(evidence.histogram) > float(bound)
        return ~self._distances(evidence).at_most(bound)

    def _distances(self, evidence: Evidence) -> Ratios:
        if self.distance is Distance.ORDERED:
            return ordered_distance(evidence.histogram)
        if self.distance is Distance.HIERARCHICAL:
            return hierarchical_distance(evidence.histogram, evidence.hierarchy)
        return equal_distance(evidence.histogram)
