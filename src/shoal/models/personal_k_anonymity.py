"""Personal k-anonymity: every individual has a k of their own."""

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.classes.members import Counts
from shoal.errors import ModelError
from shoal.exact import Positive
from shoal.kernels.ratios import Ratios
from shoal.models.evidence import Evidence, View
from shoal.models.model import MODELS, Better, Model, Monotone, Need, Number
from shoal.remedy import Option
from shoal.table.column import Column
from shoal.table.scale import scale


@MODELS.register("personal-k-anonymity")
class PersonalKAnonymity(Model):
    """Every individual shares the quasi-identifiers with at least as many others as they demand.

    A column holds the k of each individual: ``n ≥ k_i`` for every member i of a class of n persons. Individuals without
    a value demand ``k``. Xiao & Tao 2006 and Gedik & Liu 2008 introduced personal requirements. Attained: the smallest
    ratio ``n / k_i``, more than 0; more is better, and 1 meets all demands.

    >>> import shoal
    >>> data = {"age": [34, 34, 71, 71, 71], "own_k": [2, 2, 2, 3, 2]}
    >>> shoal.personal_k_anonymity(data, quasi=["age"], threshold="own_k")
    1.0
    """

    name: ClassVar[str] = "personal-k-anonymity"
    measured: ClassVar[Mapping[str, Better]] = {"ratio": Better.MORE}
    needs: ClassVar[frozenset[Need]] = frozenset({Need.THRESHOLD})
    always: ClassVar[tuple[str, ...]] = ("threshold",)

    threshold: str | None = Field(default=None, description="column with the k of each individual")
    k: int = Field(default=1, ge=1, strict=True, description="minimum class size of individuals without a value")
    ratio: Positive = Field(default=Fraction(1), description="minimum class size as a multiple of the own k")

    def views(self, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> list[View]:
        """Return the view of the thresholds."""
        del sensitive
        if self.threshold is None:
            raise ModelError(
                "no-threshold",
                "The model {model} requires the column with the k of each individual.",
                remedy=Option("threshold"),
                model=self.name,
            )
        return [View(quasi, (self.threshold,))]

    def monotone(self, *, overlap: bool = False) -> Monotone:
        """Return the properties for a search: the union of two classes that meet all demands of their members does too.

        A small class may contain a demand that its union with a larger one does not meet.
        """
        del overlap
        return Monotone(generalisation=True, suppression=False)

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the smallest ratio of class size and own k."""
        return {"ratio": self._ratios(evidence).min()}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes that are too small for one of their members."""
        return self._ratios(evidence).below(self.ratio)

    def individuals(self, evidence: Evidence, failing: NDArray[np.bool_]) -> int:
        """Return the number of individuals whose own demand is not met."""
        del failing
        histogram = evidence.histogram
        sizes, demands = histogram.spread(evidence.classes.sizes), demanded(histogram.column, self.k)[histogram.codes]
        unmet = Ratios(sizes, demands).below(self.ratio)
        return int((histogram.counts * histogram.spread(evidence.classes.copies))[unmet].sum())

    def _ratios(self, evidence: Evidence) -> Ratios:
        histogram = evidence.histogram
        demands = demanded(histogram.column, self.k)[histogram.codes]
        return Ratios(evidence.classes.sizes, np.maximum.reduceat(demands, histogram.starts[:-1]))


def demanded(column: Column, usual: int) -> Counts:
    """Return the k of each code of a column; ``usual`` for missing values."""
    demands = np.full(column.size, usual, np.int64)
    if not len(column.values):
        return demands
    numbers = scale(column) if column.kind.numeric else None
    known = None if numbers is None else numbers[: len(column.values)]
    if known is None or (known != np.floor(known)).any() or (known < 1).any():
        raise ModelError(
            "bad-threshold-column",
            "Column '{column}' does not hold thresholds: it must contain whole numbers of at least 1, or no value.",
            column=column.name,
        )
    demands[: len(known)] = known.astype(np.int64)
    return demands
