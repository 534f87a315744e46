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

    In full-domain generalisation the sum of the scheme's levels (Samarati 2001); otherwise the mean level of the cells
    of a column. Suppressed records are not looked at, as in ARX, unless nothing else is there: then every column is on
    its last level. Value: 0 up to the sum of the heights. Cost: their ratio.

    >>> import shoal
    >>> before, after = {"age": [31, 34], "sex": ["f", "m"]}, {"age": ["30-39"] * 2, "sex": ["f", "m"]}
    >>> found = shoal.compare(before, after, hierarchies={"age": {"kind": "interval", "widths": [10]}})
    >>> found.quality["height"].total
    Score(value=1.0, cost=0.3333333333333333)
    """

    name: ClassVar[str] = "height"
    aspect: ClassVar[Aspect] = Aspect.VALUES
    unit: ClassVar[str] = "levels"

    def measured(self, recoding: Recoding) -> Measured:
        """Measure the records that are not suppressed."""
        return super().measured(recoding.released() or recoding)

    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""
        check_levels(recoded)
        level, top = recoded.mean(levels(recoded.nodes)), height(recoded.domain)
        return Score(level, level / top if top else 0.0)

    def total(self, scores: Mapping[str, Score], recoding: Recoding) -> Score:
        """Return the sum of the columns."""
        top = np.sum([height(recoding[name].domain) for name in scores])
        value = float(np.sum([score.value for score in scores.values()]))
        return Score(value, value / float(top) if top else 0.0)

    def pricing(self, rungs: Rungs) -> Pricing:
        """Take the mean level of the records that are left; the last one, if none are."""
        costs, _ = rungs.spread(levels)

        def prices(at: Counts, lost: Counts) -> Floats:
            kept = rungs.records[at] - lost
            left = kept.sum(axis=-1)
            return np.where(left > 0, (kept * costs[at]).sum(axis=-1) / np.maximum(left, 1), height(rungs.domain))

        return prices

    def steady(self, rungs: Rungs) -> bool:
        """Tell whether all values are on the level of the scheme: some may show nothing on every one."""
        costs, _ = rungs.spread(levels)
        return bool(((costs == costs.max(axis=-1, keepdims=True)) | (rungs.records == 0)).all())

    def whole(self, sums: Floats, weight: float) -> Floats:  # noqa: ARG002 - what others divide by
        """Return the sum of the levels."""
        return sums
