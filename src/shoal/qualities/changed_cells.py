"""The share of cells that are no longer true."""

from typing import ClassVar

from shoal.qualities.quality import QUALITIES, Aspect, ColumnQuality, Score
from shoal.recoding.nodes import Fate
from shoal.recoding.recoding import Recoded


@QUALITIES.register("changed-cells")
class ChangedCells(ColumnQuality):
    """Share of cells that contradict the original value, such as noise or swaps.

    Value and cost: 0 to 1. The share is 0 for a truthful release, even if all cells are suppressed.

    >>> import shoal
    >>> shoal.compare({"x": list("aabb")}, {"x": list("abab")}, in_order=True).quality["changed-cells"].total.value
    0.5
    """

    name: ClassVar[str] = "changed-cells"
    aspect: ClassVar[Aspect] = Aspect.RECORDS
    of_perturbed: ClassVar[bool] = True
    matched: ClassVar[bool] = True
    costs_all: ClassVar[bool] = False

    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""
        return Score.of_cost(recoded.records(Fate.CHANGED) / int(recoded.counts.sum()))
