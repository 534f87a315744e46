"""Loss, as the review measures it."""

from typing import ClassVar

import numpy as np

from shoal.qualities.loss import covered
from shoal.qualities.quality import QUALITIES, Aspect, CellQuality
from shoal.recoding.nodes import Floats, Nodes


@QUALITIES.register("loss-arithmetic")
class ArithmeticLoss(CellQuality):
    """Share of the domain that a released value covers, by width for numbers and dates, otherwise by number of values.

    An interval costs ``(upper − lower) / (max − min)``, cut to the range of the data; a set of m of d values
    ``(m − 1) / (d − 1)``; a suppressed cell 1. A column costs the mean over its cells, a table the mean over its
    columns. Olatunji 2021, §5.3. Value and cost: 0 to 1.

    >>> import shoal
    >>> ages = {"age": [20, 25, 30, 60]}
    >>> shoal.compare(ages, {"age": ["20-30", "20-30", "30", "*"]}).quality["loss-arithmetic"].total.value
    0.375
    """

    name: ClassVar[str] = "loss-arithmetic"
    aspect: ClassVar[Aspect] = Aspect.VALUES

    def cells(self, nodes: Nodes) -> Floats:
        """Return how much of the column's range each node covers."""
        return widths(nodes)


def widths(nodes: Nodes) -> Floats:
    """Return for each node how much of the column's range it covers; of its values, where there is no scale."""
    low, high = nodes.domain.ends
    if not high > low:
        return covered(nodes)
    width = (np.clip(nodes.high, low, high) - np.clip(nodes.low, low, high)) / (high - low)
    on_scale = np.where(np.isnan(width), covered(nodes), width)  # missing values lie nowhere
    return np.where(nodes.lost, 1.0, on_scale)
