"""Attribute risk: how probable a sensitive value becomes for somebody whose class is known."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.classes.classes import Classes
from shoal.kernels.ratios import Ratios


@dataclass(frozen=True, slots=True)
class AttributeRisk:
    """How well a value can be guessed.

    ``maximum``: the largest posterior of a value. ``average``: how often the most frequent value of somebody's class is
    right; ``baseline``: how often that of the whole table is. ``certain``: persons in whose class all have one value.
    """

    column: str
    maximum: Fraction
    average: Fraction
    baseline: Fraction
    certain: int


def attribute_risk(classes: Classes, column: str) -> AttributeRisk:
    """Measure the posteriors n_s / n of the values of a sensitive column, n_s of n persons in a class having s.

    >>> import shoal
    >>> table = shoal.read({"age": [34, 34, 71, 71], "dx": ["flu", "flu", "flu", "gout"]})
    >>> attribute_risk(Classes.of(table, ["age"], ["dx"]), "dx")
    AttributeRisk(column='dx', maximum=Fraction(1, 1), average=Fraction(3, 4), baseline=Fraction(3, 4), certain=2)
    """
    histogram = classes.histograms[column]
    largest = histogram.largest()
    return AttributeRisk(
        column,
        Ratios(largest, classes.sizes).max(),
        Fraction(int((largest * classes.copies).sum()), int((classes.sizes * classes.copies).sum())),
        Fraction(int(histogram.reference.max()), classes.persons),
        classes.members.within(np.asarray(largest == classes.sizes)),
    )
