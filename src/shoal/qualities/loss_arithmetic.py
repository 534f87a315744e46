"""Loss with arithmetic means, as defined in the review by Olatunji 2021."""

from typing import ClassVar

import numpy as np

from shoal.qualities.loss import covered
from shoal.qualities.quality import QUALITIES, Aspect, CellQuality
from shoal.recoding.nodes import Floats, Nodes


@QUALITIES.register("loss-arithmetic")
class ArithmeticLoss(CellQuality):
    """Share of the domain that a released value covers, by interval width, arithmetic mean over the columns.

    An interval costs ``(upper − lower) / (max − min)``, clipped to the range of the data; a set of m of d values ``(m −
    1) / (d − 1)``; a suppressed cell 1. The cost of a column is the mean over its cells, the cost of a table the mean
    over its columns. Olatunji 2021, §5.3. Value and cost: 0 to 1.

    >>> import shoal
    >>> ages = {"age": [20, 25, 30, 60]}
    >>> shoal.compare(ages, {"age": ["20-30", "20-30", "30", "*"]}).quality["loss-arithmetic"].total.value
    0.375
    """

    name: ClassVar[str] = "loss-arithmetic"
    title: ClassVar[str] = "loss metric, arithmetic mean by interval width"
    aspect: ClassVar[Aspect] = Aspect.VALUES

    def cells(self, nodes: Nodes) -> Floats:
        """Return the share of the column's range that each node covers."""
        return widths(nodes)


def widths(nodes: Nodes) -> Floats:
    """Return the share of the column's range that each node covers; the share of its values if it has no scale."""
    low, high = nodes.domain.ends
    if not high > low:
        return covered(nodes)
    width = (np.clip(nodes.high, low, high) - np.clip(nodes.low, low, high)) / (high - low)
    on_scale = np.where(np.isnan(width), covered(nodes), width)  # missing values are not on the scale
    return np.where(nodes.lost, 1.0, on_scale)
