"""Height."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from shoal.qualities.precision import check_levels, height, levels
from shoal.qualities.quality import QUALITIES, Aspect, Counts, LevelQuality, Measured, Pricing, Score
from shoal.recoding.nodes import Floats
from shoal.recoding.recoding import Recoded, Recoding
from shoal.recoding.rungs import Rungs


@QUALITIES.register("height")
class Height(LevelQuality):
    """Sum of the generalisation levels over the columns.

    In full-domain generalisation, the sum of the levels of the scheme (Samarati 2001); otherwise, the level of a column
    is the mean level of its cells. Suppressed records are ignored, as in ARX, unless all records are suppressed: then
    every column is on its highest level. Value: 0 up to the sum of the heights. Cost: the value divided by that sum.

    >>> import shoal
    >>> before, after = {"age": [31, 34], "sex": ["f", "m"]}, {"age": ["30-39"] * 2, "sex": ["f", "m"]}
    >>> found = shoal.compare(before, after, hierarchies={"age": {"kind": "interval", "widths": [10]}})
    >>> found.quality["height"].total
    Score(value=1.0, cost=0.3333333333333333)
    """

    name: ClassVar[str] = "height"
    title: ClassVar[str] = "generalisation height"
    aspect: ClassVar[Aspect] = Aspect.VALUES
    unit: ClassVar[str] = "levels"

    def measured(self, recoding: Recoding) -> Measured:
        """Measure the released records; all records if none are released."""
        return super().measured(recoding.released() or recoding)

    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""
        check_levels(recoded)
        level, top = recoded.mean(levels(recoded.nodes)), height(recoded.domain)
        return Score(level, level / top if top else 0.0)

    def total(self, scores: Mapping[str, Score], recoding: Recoding) -> Score:
        """Return the sum over the columns."""
        top = np.sum([height(recoding[name].domain) for name in scores])
        value = float(np.sum([score.value for score in scores.values()]))
        return Score(value, value / float(top) if top else 0.0)

    def pricing(self, rungs: Rungs) -> Pricing:
        """Return a function that computes the mean level of the released records; the highest level if none are."""
        costs, _ = rungs.spread(levels)

        def prices(at: Counts, lost: Counts) -> Floats:
            kept = rungs.records[at] - lost
            left = kept.sum(axis=-1)
            return np.where(left > 0, (kept * costs[at]).sum(axis=-1) / np.maximum(left, 1), height(rungs.domain))

        return prices

    def price(self, score: Score) -> float:
        """Return the mean level."""
        return score.value

    def steady(self, rungs: Rungs) -> bool:
        """Return whether all values are on the level of the scheme; values suppressed on every level are not."""
        costs, _ = rungs.spread(levels)
        return bool(((costs == costs.max(axis=-1, keepdims=True)) | (rungs.records == 0)).all())

    def whole(self, sums: Floats, weight: float) -> Floats:  # noqa: ARG002 - the divisor of other measures
        """Return the sum of the levels."""
        return sums
