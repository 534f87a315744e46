"""Loss, as ARX measures it."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from shoal.qualities.quality import QUALITIES, Aspect, CellQuality, Score
from shoal.recoding.nodes import Floats, Nodes
from shoal.recoding.recoding import Recoding


@QUALITIES.register("loss")
class Loss(CellQuality):
    """How much of its domain a value covers.

    A cell that could be any of m of the d values of its column costs ``(m − 1) / (d − 1)``, a suppressed one 1. A
    column costs the mean L over its cells, a table the geometric mean ``Π(1 + L)^(1/columns) − 1``. Values are counted
    in the hierarchy, if there is one, and in the data otherwise. Iyengar 2002; ARX's default (El Emam & Arbuckle 2013
    use it for health data). Value and cost: 0 to 1.

    >>> import shoal
    >>> shown = ["a or b", "a or b", "c", "d", "e"]
    >>> ladder = {"kind": "explicit", "values": {v: ["a or b" if v in "ab" else v] for v in "abcde"}}
    >>> shoal.compare({"x": list("abcde")}, {"x": shown}, hierarchies={"x": ladder}).quality["loss"].total.value
    0.1
    """

    name: ClassVar[str] = "loss"
    aspect: ClassVar[Aspect] = Aspect.VALUES

    def cells(self, nodes: Nodes) -> Floats:
        """Return the share of other values that each node could be, too."""
        return covered(nodes)

    def total(self, scores: Mapping[str, Score], recoding: Recoding) -> Score:  # noqa: ARG002 - one for all
        """Return the geometric mean of the columns."""
        costs = np.array([score.cost for score in scores.values()])
        return Score.of_cost(float(self.combined(costs, np.ones(len(costs)))))

    def combined(self, prices: Floats, weights: Floats) -> Floats:
        """Return the weighted geometric mean of what columns cost."""
        mean: Floats = np.expm1((np.log1p(prices) * weights).sum(axis=-1) / weights.sum())
        return mean


def covered(nodes: Nodes) -> Floats:
    """Return for each node the share of other values that it could be, too."""
    size = nodes.domain.size
    shares = (nodes.leaves - 1) / (size - 1) if size > 1 else np.zeros(len(nodes))
    return np.where(nodes.lost, 1.0, shares)
