"""Estimates: values with their confidence intervals."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from shoal.recoding.nodes import Floats, Ints

NORMAL = 1.959963984540054  # 97.5 % quantile of the standard normal distribution


@dataclass(frozen=True, slots=True)
class Estimate:
    """Value with its 95 % confidence interval."""

    value: float
    low: float
    high: float

    @classmethod
    def normal(cls, value: float, error: float) -> "Estimate":
        """Return the estimate for a value with a standard error.

        >>> Estimate.normal(1.0, 0.5)
        Estimate(value=1.0, low=0.020018007729972975, high=1.979981992270027)
        """
        return cls(value, value - NORMAL * error, value + NORMAL * error)

    @classmethod
    def share(cls, value: float, number: float, *, level: float = 0.95) -> "Estimate":
        """Return the estimate for a share of ``number`` persons, with Wilson's interval, which stays between 0 and 1.

        >>> Estimate.share(1.0, 3)
        Estimate(value=1.0, low=0.4385029682449546, high=1.0)
        """
        normal = NORMAL if level == 0.95 else NormalDist().inv_cdf((1 + level) / 2)
        square = normal * normal / number
        middle = (value + square / 2) / (1 + square)
        half = normal * math.sqrt(value * (1 - value) / number + square / number / 4) / (1 + square)
        return cls(value, min(max(middle - half, 0.0), value), max(min(middle + half, 1.0), value))

    def overlap(self, other: "Estimate") -> float:
        """Return the overlap of two intervals: the mean share of each that lies in the other (Karr 2006).

        1: the intervals are equal. Below 0: they are disjoint, and the distance grows as the value falls.

        >>> Estimate(0, -1, 1).overlap(Estimate(1, 0, 2))
        0.5
        """
        shared = min(self.high, other.high) - max(self.low, other.low)
        widths = (self.high - self.low, other.high - other.low)
        if min(widths) <= 0:
            return float(self == other)
        return float(np.mean([shared / width for width in widths]))


def over_persons(sums: Floats, persons: Ints) -> Estimate:
    """Return the mean of one number per record, with an interval that accounts for several records per person.

    >>> import numpy as np
    >>> over_persons(np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 2])).value
    0.5
    """
    _, person = np.unique(persons, return_inverse=True)
    value = float(sums.mean())
    apart = np.bincount(person, sums - value)
    number = len(apart)
    if number < 2:
        return Estimate(value, -np.inf, np.inf)
    error = float(np.sqrt(np.square(apart).sum() * number / (number - 1))) / len(sums)
    return Estimate.normal(value, error)


def over_clusters(values: Floats, clusters: Ints) -> Estimate:
    """Return a mean of shares with Wilson's interval for clustered individuals (Korn & Graubard 1998).

    The number of individuals is replaced by the effective number: as many independent ones would give the same standard
    error. It is reduced further by the quantile of Student's t with one degree of freedom fewer than clusters. If all
    values are equal, only the number of clusters counts.

    >>> import numpy as np
    >>> alone, pairs = np.arange(100), np.arange(100) // 2
    >>> values = np.repeat([0.0, 1.0, 0.0, 0.0, 1.0], 20)
    >>> [round(over_clusters(values, clusters).low, 2) for clusters in (alone, pairs)]
    [0.31, 0.27]
    """
    value, groups = float(values.mean()), np.unique(clusters, return_inverse=True)[1]
    sums = np.bincount(groups, values - value)
    number, people = len(sums), len(values)
    if number < 2:
        return Estimate(value, 0.0, 1.0)
    variance = float((sums**2).sum()) * number / (number - 1) / people**2
    spread = value * (1 - value)
    effective = number if spread < 1e-12 or variance <= 0 else min(spread / variance, people)
    return Estimate.share(value, effective * (NORMAL / student(number - 1)) ** 2)


def student(free: int) -> float:
    """Return the 97.5 % quantile of Student's t, by its expansion (Peiser 1943).

    >>> round(student(10), 2), round(student(1000), 2)
    (2.23, 1.96)
    """
    first, second = (NORMAL**3 + NORMAL) / 4, (5 * NORMAL**5 + 16 * NORMAL**3 + 3 * NORMAL) / 96
    return NORMAL + first / free + second / free**2
