"""The share of cells that are suppressed."""

from typing import ClassVar

from shoal.qualities.quality import QUALITIES, Aspect, ColumnQuality, Score
from shoal.recoding.nodes import Fate
from shoal.recoding.recoding import Recoded


@QUALITIES.register("suppressed-cells")
class SuppressedCells(ColumnQuality):
    """The share of cells that show nothing, those of suppressed records included. Value and cost: 0 to 1.

    >>> import shoal
    >>> shoal.compare({"x": list("abcd")}, {"x": list("abc*")}).quality["suppressed-cells"].total.value
    0.25
    """

    name: ClassVar[str] = "suppressed-cells"
    aspect: ClassVar[Aspect] = Aspect.RECORDS

    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""
        return Score.of_cost(recoded.records(Fate.SUPPRESSED) / int(recoded.counts.sum()))
