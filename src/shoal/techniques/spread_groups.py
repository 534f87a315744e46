"""Spread groups: near points whose sensitive values are spread evenly over those of all.

The points are sorted by their sensitive value and divided into as many strata as a group has members. Each group takes
one point of every stratum. If n distinct values are divided into strata of equal size, the ordered distance of a group
of k points from the whole is at most (n − k) / (2 (n − 1) k), and t-closeness needs no further merging (Soria-Comas et
al. 2015, algorithm 3).
"""

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.microaggregation import NONE, Coordinates, Labels, Persons
from shoal.progress import Hook, Progress
from shoal.recoding.nodes import Floats
from shoal.techniques.squares import with_rest


def bound(points: int, size: int) -> float:
    """Return the largest ordered distance of a group of ``size`` points with distinct values, if size divides n.

    >>> bound(12, 3)
    0.13636363636363635
    """
    return (points - size) / (2 * (points - 1) * size)


def spread_groups(points: Coordinates, persons: Persons, values: Floats, size: int, progress: Hook) -> Labels:
    """Return groups with one point of each of ``size`` strata of the values; points left over join the nearest group.

    A group starts at the point farthest from the centre of those left, and takes the nearest point of each stratum.
    Each stratum has about the same number of persons.

    >>> from shoal.progress import silent
    >>> points, values = np.array([[0.0], [1.0], [9.0], [10.0]]), np.array([1.0, 5.0, 2.0, 6.0])
    >>> spread_groups(points, np.ones(4, np.uint32), values, 2, silent).tolist()
    [0, 0, 1, 1]
    """
    stratum = _strata(values, persons, size)
    strata = [np.flatnonzero(stratum == number) for number in range(size)]
    labels, number = np.full(len(points), NONE, np.uint32), min(map(len, strata))
    for group in range(number):
        progress(Progress("spreading sensitive values over groups", group, number))
        left = np.concatenate(strata)
        centre = np.average(points[left], axis=0, weights=persons[left])
        seed = points[left[int(np.argmax(((points[left] - centre) ** 2).sum(axis=1)))]]
        for place, members in enumerate(strata):
            nearest = int(np.argmin(((points[members] - seed) ** 2).sum(axis=1)))
            labels[members[nearest]] = group
            strata[place] = np.delete(members, nearest)
    return with_rest(points, persons, labels)


def _strata(values: Floats, persons: Persons, size: int) -> NDArray[np.int64]:
    """Return the stratum of each point: the persons with the lowest values, and so on; missing values come last."""
    order = np.argsort(values, kind="stable")
    heavy = persons[order].astype(np.int64)
    stratum = np.empty(len(values), np.int64)
    stratum[order] = (np.cumsum(heavy) - heavy) * size // int(heavy.sum())
    return stratum
