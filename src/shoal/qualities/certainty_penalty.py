"""The normalised certainty penalty."""

from typing import ClassVar

import numpy as np

from shoal.qualities.loss_arithmetic import widths
from shoal.qualities.quality import QUALITIES, Aspect, CellQuality
from shoal.recoding.nodes import Floats, Nodes


@QUALITIES.register("ncp")
class CertaintyPenalty(CellQuality):
    """Normalised certainty penalty of the released values.

    A number in an interval costs ``(upper − lower) / (max − min)``. A category that may be any of m > 1 of d values
    costs ``m / d``, a single category 0, a suppressed cell 1. The value is the mean over cells and columns. Xu 2006
    (GCP in Ghinita 2007). Value and cost: 0 to 1.

    >>> import shoal
    >>> shoal.compare({"x": list("abcd")}, {"x": ["{a, b}", "{a, b}", "c", "d"]}).quality["ncp"].total.value
    0.25
    """

    name: ClassVar[str] = "ncp"
    title: ClassVar[str] = "normalised certainty penalty"
    aspect: ClassVar[Aspect] = Aspect.VALUES

    def cells(self, nodes: Nodes) -> Floats:
        """Return the certainty penalty of each node."""
        low, high = nodes.domain.ends
        if high > low:
            return widths(nodes)
        penalty = np.where(nodes.leaves > 1, nodes.leaves / nodes.domain.size, 0.0)
        return np.where(nodes.lost, 1.0, penalty)
