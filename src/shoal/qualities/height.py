"""Height."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from shoal.qualities.precision import height, levels
from shoal.qualities.quality import QUALITIES, Aspect, ColumnQuality, Measured, Score
from shoal.recoding.recoding import Recoded, Recoding


@QUALITIES.register("height")
class Height(ColumnQuality):
    """How many levels values were taken up, added over the columns.

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
        level, top = recoded.mean(levels(recoded)), height(recoded)
        return Score(level, level / top if top else 0.0)

    def total(self, scores: Mapping[str, Score], recoding: Recoding) -> Score:
        """Return the sum of the columns."""
        top = np.sum([height(recoding[name]) for name in scores])
        value = float(np.sum([score.value for score in scores.values()]))
        return Score(value, value / float(top) if top else 0.0)
