"""(α, k)-anonymity."""

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.exact import Share
from shoal.kernels.ratios import Ratios
from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, AttributeModel, Better, Number
from shoal.models.named_values import counts_of


@MODELS.register("alpha-k-anonymity")
class AlphaKAnonymity(AttributeModel):
    """Every class has at least k individuals, and no sensitive value has a share above α.

    ``n ≥ k`` and ``n_s / n ≤ α`` for every sensitive value s, or for the named ``values`` only, where n_s of the n
    persons in the class have s. Wong et al. 2006. Attained: the largest share, between 0 and 1, less is better; and k.

    >>> import shoal
    >>> data = {"age": [34, 34, 34, 34], "dx": ["flu", "flu", "flu", "gout"]}
    >>> shoal.alpha_k_anonymity(data, quasi=["age"], sensitive=["dx"])
    {'alpha': 0.75, 'k': 4}
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    measured: ClassVar[Mapping[str, Better]] = {"alpha": Better.LESS, "k": Better.MORE}
    averages: ClassVar[bool] = True

    alpha: Share | None = Field(default=None, description="maximum share of a sensitive value in a class, 0 to 1")
    k: int | None = Field(default=None, ge=1, strict=True, description="minimum class size")
    values: tuple[str, ...] | None = Field(default=None, description="values to protect (default: all)")

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the largest share of a value, and the smallest class size."""
        return {"alpha": self._shares(evidence).max(), "k": int(evidence.classes.sizes.min())}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes that are too small, or have a value with too large a share."""
        small = evidence.classes.sizes < (self.k or 1)
        return small | ~self._shares(evidence).at_most(Fraction(1) if self.alpha is None else self.alpha)

    def least(self, evidence: Evidence) -> int:  # noqa: ARG002 - the same for all tables
        """Return k."""
        return self.k or 1

    def _shares(self, evidence: Evidence) -> Ratios:
        histogram = evidence.histogram
        counts = counts_of(histogram, self.values, self.name)
        return Ratios(np.maximum.reduceat(counts, histogram.starts[:-1]), evidence.classes.sizes)
