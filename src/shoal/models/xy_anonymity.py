"""(X, Y)-anonymity and (X, Y)-linkability."""

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.errors import ModelError
from shoal.exact import Share
from shoal.kernels.ratios import Ratios
from shoal.models.evidence import Evidence, View
from shoal.models.model import MODELS, Better, Model, Need, Number
from shoal.remedy import Option


class _XAndY(Model):
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SENSITIVE})
    notation: ClassVar[str] = (
        "X: the quasi-identifiers; Y: the sensitive columns, taken together; k: fewest values of Y in a class; "
        "h: highest share of a value of Y"
    )

    x: tuple[str, ...] | None = Field(default=None, description="known columns (default: the quasi-identifiers)")
    y: tuple[str, ...] | None = Field(default=None, description="columns to protect (default: the sensitive columns)")

    def views(self, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> list[View]:
        """Return one view, with X as the known columns and Y as a single value."""
        known, hidden = self.x or quasi, self.y or sensitive
        if not hidden:
            raise ModelError(
                "no-columns", "The model {model} requires the columns y.", remedy=Option("y"), model=self.name
            )
        return [View(known, hidden, combined=len(hidden) > 1)]


@MODELS.register("xy-anonymity")
class XYAnonymity(_XAndY):
    """Every combination of values of the columns X occurs with at least k distinct values of the columns Y.

    ``#{y : y occurs together with x} ≥ k`` for every x. Wang & Fung 2006. Attained: the smallest number of distinct
    values y, 1 or more; more is better.

    >>> import shoal
    >>> data = {"job": ["nurse", "nurse", "cook"], "patient": [1, 2, 3]}
    >>> shoal.xy_anonymity(data, quasi=["job"], sensitive=["patient"])
    1
    """

    name: ClassVar[str] = "xy-anonymity"
    measured: ClassVar[Mapping[str, Better]] = {"k": Better.MORE}
    counts_up: ClassVar[bool] = True

    k: int | None = Field(default=None, ge=1, strict=True, description="minimum number of distinct values of y")

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the smallest number of distinct values of Y for a value of X."""
        return {"k": int(evidence.histogram.distinct().min())}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of values of X with too few distinct values of Y."""
        return evidence.histogram.distinct() < (self.k or 1)


@MODELS.register("xy-linkability")
class XYLinkability(_XAndY):
    """No combination of values of the columns X determines a value of the columns Y with probability above h.

    ``n_xy / n_x ≤ h`` for every x and y. Wang & Fung 2006. Attained: the largest share, between 0 and 1; less is
    better.

    >>> import shoal
    >>> data = {"job": ["nurse", "nurse", "cook"], "dx": ["flu", "gout", "flu"]}
    >>> shoal.xy_linkability(data, quasi=["job"], sensitive=["dx"])
    1.0
    """

    name: ClassVar[str] = "xy-linkability"
    measured: ClassVar[Mapping[str, Better]] = {"h": Better.LESS}
    averages: ClassVar[bool] = True

    h: Share | None = Field(default=None, description="maximum probability of a value")

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the largest share of a value of Y for a value of X."""
        return {"h": self._shares(evidence).max()}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of values of X for which a value of Y is too certain."""
        return ~self._shares(evidence).at_most(Fraction(1) if self.h is None else self.h)

    @staticmethod
    def _shares(evidence: Evidence) -> Ratios:
        return Ratios(evidence.histogram.largest(), evidence.classes.sizes)
