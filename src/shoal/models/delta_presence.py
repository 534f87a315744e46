"""δ-presence."""

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.exact import Share
from shoal.kernels.ratios import Ratios
from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, Better, Model, Need, Number


@MODELS.register("delta-presence")
class DeltaPresence(Model):
    """The probability that an individual of the population is in the table lies between two bounds.

    ``δ_min ≤ n / N ≤ δ_max`` for every class, where n is its size in the table and N its size in the register.
    Individuals of the register who match no class have the share 0. Nergiz, Atzori & Clifton 2007. Attained: the
    smallest and the largest share, between 0 and 1.

    >>> import shoal
    >>> everybody = shoal.read({"age": [34, 34, 34, 34, 71, 71]})
    >>> shoal.delta_presence({"age": [34, 71]}, quasi=["age"], population=everybody)
    {'delta_min': 0.25, 'delta_max': 0.5}
    """

    name: ClassVar[str] = "delta-presence"
    measured: ClassVar[Mapping[str, Better]] = {"delta_min": Better.MORE, "delta_max": Better.LESS}
    needs: ClassVar[frozenset[Need]] = frozenset({Need.POPULATION, Need.REGISTER})
    averages: ClassVar[bool] = True

    delta_min: Share | None = Field(default=None, description="minimum probability of presence")
    delta_max: Share | None = Field(default=None, description="maximum probability of presence")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.delta_min is not None and self.delta_max is not None and self.delta_min > self.delta_max:
            raise ValueError("delta_min must not be more than delta_max")
        return self

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the smallest and the largest share."""
        shares = _shares(evidence)
        smallest = Fraction(0) if evidence.in_register().unseen else shares.min()
        return {"delta_min": smallest, "delta_max": shares.max()}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes with a share outside the bounds.

        All classes fail if ``delta_min`` is positive and individuals of the register match no class.
        """
        shares, low, high = _shares(evidence), self.delta_min or Fraction(0), self.delta_max
        if low > 0 and evidence.in_register().unseen:
            return np.ones(len(shares), bool)
        return shares.below(low) | ~shares.at_most(Fraction(1) if high is None else high)


def _shares(evidence: Evidence) -> Ratios:
    sizes = evidence.classes.sizes
    return Ratios(sizes, np.maximum(evidence.in_register().counts, sizes))
