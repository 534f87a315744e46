"""Loss, as defined by ARX."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.qualities.quality import QUALITIES, Aspect, CellQuality, Counts, Pricing, Score
from shoal.recoding.nodes import Floats, Nodes
from shoal.recoding.recoding import Recoding
from shoal.recoding.rungs import Rungs


@QUALITIES.register("loss")
class Loss(CellQuality):
    """Share of the domain that a released value covers, geometric mean over the columns.

    A cell that may be any of m of the d values of its column costs ``(m − 1) / (d − 1)``, a suppressed cell 1. The cost
    L of a column is the mean over its cells, the cost of a table the geometric mean ``Π(1 + L)^(1/columns) − 1``.
    Values are counted in the hierarchy, if there is one, otherwise in the data. Iyengar 2002; ARX's default (El Emam &
    Arbuckle 2013 use it for health data). Value and cost: 0 to 1.

    >>> import shoal
    >>> shown = ["a or b", "a or b", "c", "d", "e"]
    >>> ladder = {"kind": "explicit", "values": {v: ["a or b" if v in "ab" else v] for v in "abcde"}}
    >>> shoal.compare({"x": list("abcde")}, {"x": shown}, hierarchies={"x": ladder}).quality["loss"].total.value
    0.1
    """

    name: ClassVar[str] = "loss"
    title: ClassVar[str] = "loss metric (Iyengar), geometric mean"
    aspect: ClassVar[Aspect] = Aspect.VALUES

    balance: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="balance of a search (as in ARX): towards 1 generalisation is preferred, towards 0 suppression",
    )

    def pricing(self, rungs: Rungs) -> Pricing:
        """Return a function that computes the cost of the column under the balance.

        With g = min(1, 2 − 2·balance) and s = min(1, 2·balance), a cell of cost c costs ``g·c·(d − 1)/(d − g)``, a
        suppressed cell 1 or, if s < 1, ``c + s·(1 − c)``.
        """
        general, lost = min(1.0, 2 * (1 - self.balance)), min(1.0, 2 * self.balance)
        size = rungs.domain.size
        costs, _ = rungs.spread(self.cells)
        kept = costs * general * (size - 1) / (size - general) if size > 1 else costs
        more = (costs + lost * (1 - costs) if lost < 1 else np.ones_like(costs)) - kept
        base = (rungs.records * kept).sum(axis=-1)

        def prices(levels: Counts, suppressed: Counts) -> Floats:
            costs: Floats = (base[levels] + np.einsum("ij,ij->i", suppressed, more[levels])) / rungs.total
            return costs

        return prices

    def cells(self, nodes: Nodes) -> Floats:
        """Return the share of the other values that each node may stand for."""
        return covered(nodes)

    def total(self, scores: Mapping[str, Score], recoding: Recoding) -> Score:  # noqa: ARG002 - interface
        """Return the geometric mean of the columns."""
        costs = np.array([score.cost for score in scores.values()])
        return Score.of_cost(float(self.combined(costs, np.ones(len(costs)))))

    def summands(self, prices: Floats) -> Floats:
        """Return log(1 + cost) of each column."""
        return np.log1p(prices)

    def whole(self, sums: Floats, weight: float) -> Floats:
        """Return the weighted geometric mean."""
        return np.expm1(sums / weight)


def covered(nodes: Nodes) -> Floats:
    """Return the share of the other values that each node may stand for."""
    size = nodes.domain.size
    shares = (nodes.leaves - 1) / (size - 1) if size > 1 else np.zeros(len(nodes))
    return np.where(nodes.lost, 1.0, shares)
