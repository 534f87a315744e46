"""(k, e)-anonymity."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.classes.histogram import Histogram
from shoal.errors import ModelError
from shoal.exact import Positive
from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, AttributeModel, Better, Need, Number


@MODELS.register("ke-anonymity")
class KEAnonymity(AttributeModel):
    """Every class has at least k distinct numbers with a range of at least e.

    ``#{s : s occurs in the class} ≥ k`` and ``max s − min s ≥ e``, for a sensitive column of numbers. Zhang et al.
    2007. Attained: both minima; more is better.

    >>> import shoal
    >>> data = {"age": [34, 34, 34], "income": [1000.5, 1200.0, 2000.0]}
    >>> shoal.ke_anonymity(data, quasi=["age"], sensitive=["income"])
    {'k': 3, 'e': 999.5}
    """

    name: ClassVar[str] = "ke-anonymity"
    measured: ClassVar[Mapping[str, Better]] = {"k": Better.MORE, "e": Better.MORE}
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SENSITIVE, Need.NUMBERS})
    counts_up: ClassVar[bool] = True
    notation: ClassVar[str] = "k: fewest distinct numbers in a class; e: smallest range of the numbers"

    k: int | None = Field(default=None, ge=1, strict=True, description="minimum number of distinct numbers")
    e: Positive | None = Field(default=None, description="minimum range of the numbers")

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the smallest number of distinct numbers, and the smallest range."""
        return {"k": int(evidence.histogram.distinct().min()), "e": min(_ranges(evidence.histogram)[0])}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes with too few distinct numbers, or too small a range."""
        ranges, place = _ranges(evidence.histogram)
        narrow = np.array([width < (self.e or 0) for width in ranges])
        return narrow[place] | (evidence.histogram.distinct() < (self.k or 1))


def _exactly(value: float | Decimal, name: str) -> Fraction:
    if not isfinite(value):
        raise ModelError(
            "infinite-numbers", "Column '{column}' contains infinite numbers, which have no range.", column=name
        )
    return Fraction(value) if isinstance(value, Decimal) else Fraction(Decimal(repr(value)))


def _ranges(histogram: Histogram) -> tuple[list[Fraction], NDArray[np.intp]]:
    """Return the distinct ranges that occur, exactly, and the index of the range of each class."""
    column = histogram.column
    if not column.kind.numeric:
        raise ModelError(
            "not-numeric",
            "Column '{column}' is of type {kind}. (k, e)-anonymity requires numbers.",
            column=column.name,
            kind=column.kind,
        )
    if histogram.reference[len(column.values) :].any():
        raise ModelError(
            "gaps-in-order",
            "Column '{column}' has missing or suppressed values, which have no place among numbers.",
            remedy="Fill the gaps, or remove these records.",
            column=column.name,
        )
    low = histogram.codes[histogram.starts[:-1]]
    high = histogram.codes[histogram.starts[1:] - 1]
    pairs, place = np.unique(np.stack([low, high]), axis=1, return_inverse=True)
    values = [_exactly(value, column.name) for value in column.values.to_pylist()]
    return [values[last] - values[first] for first, last in pairs.T], place.ravel()
