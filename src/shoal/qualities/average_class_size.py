"""The average class size."""

from typing import ClassVar

import numpy as np

from shoal.qualities.quality import QUALITIES, Aspect, FigureQuality, Figures, Measured, Score
from shoal.recoding.nodes import Floats
from shoal.recoding.recoding import Recoding


@QUALITIES.register("average-class-size")
class AverageClassSize(FigureQuality):
    """Average size of the equivalence classes; all suppressed records count as one more class.

    The number of records divided by the number of classes, including the class of all
    suppressed records, as in ARX. LeFevre 2006 also divides by k. Value: 1 (all records distinct) up to n (all in one
    class). Cost: 0 for the value of the original, 1 for n; a table with more classes than the original costs 0.

    >>> import shoal
    >>> shoal.compare({"x": list("abcd")}, {"x": ["a", "b", "*", "*"]}).quality["average-class-size"].total.value
    1.3333333333333333
    """

    name: ClassVar[str] = "average-class-size"
    title: ClassVar[str] = "average class size, suppressed records as one class"
    aspect: ClassVar[Aspect] = Aspect.CLASSES
    across_columns: ClassVar[bool] = True
    unit: ClassVar[str] = "records"

    def measured(self, recoding: Recoding) -> Measured:
        """Return the average class size and its cost."""
        size = recoding.records
        value = size / (len(recoding.classes.sizes) + (recoding.kept < size))
        before = size / len(recoding.sizes)
        cost = (value - before) / (size - before) if size > before else float(recoding.kept < size)
        return self.result(Score(value, max(cost, 0.0)))

    def of_figures(self, figures: Figures) -> Floats:
        """Return the cost of the average class size of each scheme."""
        size, before = figures.records, figures.records / len(figures.sizes)
        if size <= before:
            return (figures.kept < size).astype(np.float64)
        values: Floats = size / (figures.classes + (figures.kept < size))
        return (values - before) / (size - before)
