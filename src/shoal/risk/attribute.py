"""Attribute risk: how probable a sensitive value becomes for somebody whose class is known."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.classes.classes import Classes
from shoal.kernels.ratios import Ratios


@dataclass(frozen=True, slots=True)
class AttributeRisk:
    """``maximum``: the largest posterior of a value. ``average``: how probable a person's own value is, on average.

    ``certain``: persons whose class has only one value. ``baseline``: the average for somebody who only knows how
    frequent the values are in the whole table.
    """

    column: str
    maximum: Fraction
    average: Fraction
    baseline: Fraction
    certain: int


def attribute_risk(classes: Classes, column: str) -> AttributeRisk:
    """Measure the posterior n_s / n of the values of a sensitive column.

    >>> import shoal
    >>> table = shoal.read({"age": [34, 34, 71, 71], "dx": ["flu", "flu", "flu", "gout"]})
    >>> attribute_risk(Classes.of(table, ["age"], ["dx"]), "dx")
    AttributeRisk(column='dx', maximum=Fraction(1, 1), average=Fraction(3, 4), baseline=Fraction(5, 8), certain=2)
    """
    histogram = classes.histograms[column]
    largest, totals = histogram.largest(), histogram.totals()
    copies = histogram.spread(classes.copies)
    own = Ratios(histogram.counts * histogram.counts * copies, histogram.spread(classes.sizes)).sum()
    everybody = int(histogram.reference.sum())
    before = sum(int(count) ** 2 for count in histogram.reference)
    return AttributeRisk(
        column,
        Ratios(largest, classes.sizes).max(),
        own / int((totals * classes.copies).sum()),
        Fraction(before, everybody**2),
        classes.members.within(np.asarray(histogram.distinct() == 1)),
    )
