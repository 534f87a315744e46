"""The Hellinger distance between distributions."""

from typing import ClassVar

import numpy as np

from shoal.qualities.implied import implied, observed
from shoal.qualities.quality import QUALITIES, Aspect, ColumnQuality, Score
from shoal.recoding.recoding import Recoded


@QUALITIES.register("hellinger")
class Hellinger(ColumnQuality):
    """Hellinger distance between the original and the released distribution of a column, mean over the columns.

    ``√(1 − Σ √(p q))``, where p is the share of a value in the original, and q the share implied by the cells that
    still carry information, if all values of a set are equally likely. Hellinger 1909; widely used for releases and
    synthetic data. Value and cost: 0 (identical) to 1 (nothing in common, or nothing shown).

    >>> import shoal
    >>> round(shoal.compare({"x": list("aaab")}, {"x": ["{a, b}"] * 4}).quality["hellinger"].total.value, 4)
    0.1846
    """

    name: ClassVar[str] = "hellinger"
    aspect: ClassVar[Aspect] = Aspect.RELATIONS

    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""
        before, after = observed(recoded), implied(recoded, lost=False)
        if after is None:
            return Score.of_cost(1.0)
        apart = np.square(np.sqrt(before) - np.sqrt(after)).sum()
        outside = max(1 - after.sum() - 1e-12, 0.0)  # on values that do not occur in the data, rounding aside
        return Score.of_cost(float(np.sqrt(min((apart + outside) / 2, 1.0))))
