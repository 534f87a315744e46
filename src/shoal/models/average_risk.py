"""Thresholds for the table as a whole: average risk, and the share of unique persons."""

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.classes.identity import Identity
from shoal.exact import Share
from shoal.kernels.ratios import Ratios
from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, Better, Number, SizesModel, Whole


class _OfTheTable(SizesModel):
    reads_wildcards: ClassVar[bool] = True
    averages: ClassVar[bool] = True

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return a mask of all classes or none."""
        (name,) = self.measured
        bound = getattr(self, name)
        return np.full(len(evidence.classes), self.measure(evidence)[name] > (Fraction(1) if bound is None else bound))


@MODELS.register("average-risk")
class AverageRisk(_OfTheTable):
    """The average re-identification risk is at most a threshold.

    The mean of ``1 / n`` over all persons, where n is the class size; without a subject column, this is the number of
    classes divided by the number of records. El Emam 2013. Attained: between 0 and 1; less is better.

    >>> import shoal
    >>> shoal.average_risk({"age": [34, 34, 71, 71, 71]}, quasi=["age"])
    0.4
    """

    name: ClassVar[str] = "average-risk"
    measured: ClassVar[Mapping[str, Better]] = {"risk": Better.LESS}

    risk: Share | None = Field(default=None, description="maximum average risk, 0 to 1")

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the average risk."""
        return {"risk": Identity.of(evidence.classes).average()}

    def holds(self, classes: Whole, persons: Whole, alone: Whole) -> NDArray[np.bool_]:  # noqa: ARG002 - used by others
        """Return the mask of tables in which classes divided by persons meet the threshold."""
        return Ratios(classes, np.maximum(persons, 1)).at_most(Fraction(1) if self.risk is None else self.risk)


@MODELS.register("sample-uniqueness")
class SampleUniqueness(_OfTheTable):
    """At most a given share of the individuals is unique.

    The share of persons in classes of one. Attained: between 0 and 1; less is better.

    >>> import shoal
    >>> shoal.sample_uniqueness({"age": [34, 34, 71, 80]}, quasi=["age"])
    0.5
    """

    name: ClassVar[str] = "sample-uniqueness"
    measured: ClassVar[Mapping[str, Better]] = {"share": Better.LESS}

    share: Share | None = Field(default=None, description="maximum share of unique individuals, 0 to 1")

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the share of unique persons."""
        return {"share": Identity.of(evidence.classes).share_above(Fraction(1, 2))}

    def holds(self, classes: Whole, persons: Whole, alone: Whole) -> NDArray[np.bool_]:  # noqa: ARG002 - used by others
        """Return the mask of tables in which the share of unique persons meets the threshold."""
        return Ratios(alone, np.maximum(persons, 1)).at_most(Fraction(1) if self.share is None else self.share)
