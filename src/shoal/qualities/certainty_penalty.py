"""The normalised certainty penalty."""

from typing import ClassVar

import numpy as np

from shoal.qualities.loss_arithmetic import widths
from shoal.qualities.quality import QUALITIES, Aspect, ColumnQuality, Score
from shoal.recoding.recoding import Recoded


@QUALITIES.register("ncp")
class CertaintyPenalty(ColumnQuality):
    """The normalised certainty penalty: how uncertain a value has become.

    A number in an interval costs ``(upper − lower) / (max − min)``; a category that could be any of m > 1 of d values
    costs ``m / d``, a single one nothing; a suppressed cell 1. The mean over cells and columns. Xu 2006 (GCP in
    Ghinita 2007). Value and cost: 0 to 1.

    >>> import shoal
    >>> shoal.compare({"x": list("abcd")}, {"x": ["{a, b}", "{a, b}", "c", "d"]}).quality["ncp"].total.value
    0.25
    """

    name: ClassVar[str] = "ncp"
    aspect: ClassVar[Aspect] = Aspect.VALUES

    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""
        low, high = recoded.domain.ends
        if high > low:
            return Score.of_cost(recoded.mean(widths(recoded)))
        leaves = recoded.nodes.leaves
        penalty = np.where(leaves > 1, leaves / recoded.domain.size, 0.0)
        return Score.of_cost(recoded.mean(np.where(recoded.nodes.lost, 1.0, penalty)))
