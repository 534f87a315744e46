"""Discernibility."""

from typing import ClassVar

import numpy as np

from shoal.qualities.quality import QUALITIES, Aspect, FigureQuality, Figures, Measured, Score
from shoal.recoding.nodes import Floats, Ints
from shoal.recoding.recoding import Recoding


@QUALITIES.register("discernibility")
class Discernibility(FigureQuality):
    """Sum of the squared class sizes, with a penalty for suppressed records.

    ``Σ |C|²`` over the classes, plus n for each suppressed record. Bayardo & Agrawal 2005. Value: n (all records
    distinct) up to n² (all in one class). Cost: 0 for the value of the original, 1 for n²; a table with a lower value
    than the original costs 0.

    >>> import shoal
    >>> shoal.compare({"x": list("abcd")}, {"x": ["a", "b", "*", "*"]}).quality["discernibility"].total.value
    10.0
    """

    name: ClassVar[str] = "discernibility"
    aspect: ClassVar[Aspect] = Aspect.CLASSES
    across_columns: ClassVar[bool] = True
    unit: ClassVar[str] = "pairs"

    def measured(self, recoding: Recoding) -> Measured:
        """Return the discernibility and its cost."""
        size = recoding.records
        before = _squares(recoding.sizes)
        value = _squares(recoding.classes.sizes) + size * (size - recoding.kept)
        cost = (value - before) / (size * size - before) if size * size > before else float(recoding.kept < size)
        return self.result(Score(float(value), max(cost, 0.0)))

    def of_figures(self, figures: Figures) -> Floats:
        """Return the cost of the discernibility of each scheme."""
        size, before = figures.records, float(_squares(figures.sizes))
        if size * size <= before:
            return (figures.kept < size).astype(np.float64)
        values: Floats = figures.squares + size * (size - figures.kept)
        return (values - before) / (float(size) * size - before)


def _squares(sizes: Ints) -> int:
    """Return Σ |C|², in Python integers if 64 bits might overflow."""
    if int(sizes.sum()) < 3_000_000_000:
        return int(np.square(sizes).sum())
    return sum(size * size for size in sizes.tolist())
