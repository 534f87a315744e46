"""Attribute disclosure risk: the probability of a sensitive value, given the class of a person."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.classes.classes import Classes
from shoal.kernels.ratios import Ratios


@dataclass(frozen=True, slots=True)
class AttributeRisk:
    """Accuracy of inferring a sensitive value.

    ``maximum``: the largest posterior probability of a value. ``average``: the accuracy of guessing the most frequent
    value of a person's class; ``baseline``: that of guessing the most frequent value of the table. ``certain``: the
    number of persons in classes with a single value.
    """

    column: str
    maximum: Fraction
    average: Fraction
    baseline: Fraction
    certain: int


def attribute_risk(classes: Classes, column: str) -> AttributeRisk:
    """Measure the posterior probabilities n_s / n of a sensitive column: n_s of n persons in a class have s.

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
