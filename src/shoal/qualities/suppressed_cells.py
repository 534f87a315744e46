"""The share of suppressed cells."""

from typing import ClassVar

import numpy as np

from shoal.qualities.quality import QUALITIES, Aspect, CellQuality
from shoal.recoding.nodes import Fate, Floats, Nodes


@QUALITIES.register("suppressed-cells")
class SuppressedCells(CellQuality):
    """Share of suppressed cells, including those of suppressed records. Value and cost: 0 to 1.

    >>> import shoal
    >>> shoal.compare({"x": list("abcd")}, {"x": list("abc*")}).quality["suppressed-cells"].total.value
    0.25
    """

    name: ClassVar[str] = "suppressed-cells"
    aspect: ClassVar[Aspect] = Aspect.RECORDS

    def cells(self, nodes: Nodes) -> Floats:
        """Return 1 for each suppressed node, 0 for all others."""
        return np.asarray(nodes.fates == Fate.SUPPRESSED, np.float64)
