"""The share of suppressed records."""

from typing import ClassVar

from shoal.qualities.quality import QUALITIES, Aspect, FigureQuality, Figures, Measured, Score
from shoal.recoding.nodes import Floats
from shoal.recoding.recoding import Recoding


@QUALITIES.register("suppressed-records")
class SuppressedRecords(FigureQuality):
    """Share of suppressed records, including those with all quasi-identifiers suppressed. Value and cost: 0 to 1.

    >>> import shoal
    >>> shoal.compare({"x": list("abcd")}, {"x": list("abc*")}).quality["suppressed-records"].total.value
    0.25
    """

    name: ClassVar[str] = "suppressed-records"
    aspect: ClassVar[Aspect] = Aspect.RECORDS

    def measured(self, recoding: Recoding) -> Measured:
        """Return the share of suppressed records."""
        return self.result(Score.of_cost(1 - recoding.kept / recoding.records))

    def of_figures(self, figures: Figures) -> Floats:
        """Return the share of suppressed records of each scheme."""
        return 1 - figures.kept / figures.records
