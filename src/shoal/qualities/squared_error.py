"""Squared error."""

from typing import ClassVar

import numpy as np

from shoal.qualities.quality import QUALITIES, Aspect, ColumnQuality, NotMeasurableError, Score
from shoal.recoding.recoding import Recoded


@QUALITIES.register("squared-error")
class SquaredError(ColumnQuality):
    """Share of the variance of numbers that is lost.

    ``Σ (x − y)² / Σ (x − x̄)²``, where y is the number that a cell shows or the midpoint of its interval; a suppressed
    cell counts as the mean of the column. Known from microaggregation as SSE/SST (Domingo-Ferrer & Mateo-Sanz 2002).
    Defined for numbers and dates only. Value: 0 or more; noise can raise it above 1. Cost: the value, at most 1.

    >>> import shoal
    >>> shoal.compare({"x": [1, 3, 7, 9]}, {"x": ["1-3", "1-3", "7-9", "7-9"]}).quality["squared-error"].total.value
    0.1
    """

    name: ClassVar[str] = "squared-error"
    aspect: ClassVar[Aspect] = Aspect.VALUES
    unit: ClassVar[str] = "of variance"
    matched: ClassVar[bool] = True

    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""
        if recoded.domain.positions is None:
            raise NotMeasurableError("it contains no numbers or dates")
        before = recoded.domain.positions[recoded.matched]
        known = ~np.isnan(before)
        before, counts = before[known], recoded.counts[known]
        if not len(before) or before.min() == before.max():
            raise NotMeasurableError("all its values are equal")
        mean = np.average(before, weights=counts)
        shown = recoded.values[known]
        scale = np.abs(before - mean).max()  # squares of large numbers must not overflow
        wrong, spread = np.where(np.isnan(shown), before - mean, before - shown) / scale, (before - mean) / scale
        share = float((counts * wrong**2).sum() / (counts * spread**2).sum())
        return Score(share, min(share, 1.0))
