"""Absolute error."""

from typing import ClassVar

import numpy as np

from shoal.qualities.quality import QUALITIES, Aspect, ColumnQuality, NotMeasurableError, Score
from shoal.recoding.recoding import Recoded


@QUALITIES.register("absolute-error")
class AbsoluteError(ColumnQuality):
    """Mean absolute change of numbers, in standard deviations.

    ``mean |x − y| / (√2·s)``, where y is the number that a cell shows or the midpoint of its interval, and s the
    standard deviation in the original; a suppressed cell counts as the mean of the column. Known as IL1s per cell
    (Mateo-Sanz, Sebé & Domingo-Ferrer 2004). Defined for numbers and dates only. Value: 0 or more. Cost: the value, at
    most 1.

    IL1, which divides by the original value instead, is not offered: it is undefined for 0, and values near 0 dominate.

    >>> import shoal
    >>> found = shoal.compare({"x": [1, 3, 7, 9]}, {"x": ["1-3", "1-3", "7-9", "7-9"]})
    >>> round(found.quality["absolute-error"].total.value, 4)
    0.1936
    """

    name: ClassVar[str] = "absolute-error"
    aspect: ClassVar[Aspect] = Aspect.VALUES
    unit: ClassVar[str] = "of √2 standard deviations"
    of_perturbed: ClassVar[bool] = True
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
        mean, number = np.average(before, weights=counts), counts.sum()
        shown = recoded.values[known]
        scale = np.abs(before - mean).max()  # squares of large numbers must not overflow
        spread = scale * np.sqrt((counts * ((before - mean) / scale) ** 2).sum() / (number - 1))
        wrong = np.abs(before - np.where(np.isnan(shown), mean, shown))
        error = float((counts * (wrong / spread)).sum() / number / np.sqrt(2))
        return Score(error, min(error, 1.0))
