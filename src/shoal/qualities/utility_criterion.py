"""The utility criterion."""

from typing import ClassVar

import numpy as np

from shoal.qualities.quality import QUALITIES, Aspect, CellQuality
from shoal.recoding.nodes import Floats, Nodes


@QUALITIES.register("utility-criterion")
class UtilityCriterion(CellQuality):
    """Loss that doubles with each value a cell may stand for: (2ᵐ − 2) / (2ᵈ − 2) for m of the d values of a column.

    Designed for transactions: a generalised item of m of d items is consistent with ``2ᵐ − 1`` sets of them and costs
    ``(2ᵐ − 2) / (2ᵈ − 2)``, a suppressed item 1. The value is the mean over cells and columns; large sets weigh far
    more than small ones. After Loukides, Gkoulalas-Divanis & Malin 2010 and Loukides & Gkoulalas-Divanis 2012, one of
    the measures considered by Menten 2024. There, a single item costs ``1 / (2ᵈ − 1)``; here, 0. Value and cost: 0 to
    1.

    >>> import shoal
    >>> shown = ["{a, b}", "{a, b}", "c", "d"]
    >>> round(shoal.compare({"x": list("abcd")}, {"x": shown}).quality["utility-criterion"].total.value, 4)
    0.0714
    """

    name: ClassVar[str] = "utility-criterion"
    title: ClassVar[str] = "loss that doubles with each possible value"
    aspect: ClassVar[Aspect] = Aspect.VALUES

    def cells(self, nodes: Nodes) -> Floats:
        """Return the share of sets that each node is consistent with; powers of two are divided by the largest one."""
        size, leaves = nodes.domain.size, np.maximum(nodes.leaves, 1)
        shares = np.zeros(len(leaves))
        if size > 1:
            shares = (np.exp2((leaves - size).astype(float)) - 2.0 ** (1 - size)) / (1 - 2.0 ** (1 - size))
        return np.where(nodes.lost, 1.0, shares)
