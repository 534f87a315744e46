"""Restarts: neighbouring groups are formed anew from random groups, and kept if their sum of squares is smaller.

The local search between pairs of groups ends where no exchange of two groups helps. A restart concerns several
neighbouring groups at a time. Its random numbers are always the same: they decide how good the groups are, not what is
disclosed.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.microaggregation import Coordinates, Labels, Persons
from shoal.kernels.regrouping import regrouped
from shoal.progress import Hook, Progress
from shoal.techniques.squares import centres_of, sum_of_squares

PER_GROUP, MOST = 4, 4_000  # restarts per group, and in total
_SMALLEST, _LARGEST = 3, 8  # number of groups of a restart
_CLEAR = 1e-9  # a smaller relative gain may be rounding


def restarted(points: Coordinates, persons: Persons, labels: Labels, k: int, progress: Hook) -> Labels:
    """Return groups whose sum of squares is at most that of the given ones; every group has at least k persons.

    >>> from shoal.progress import silent
    >>> points = np.array([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0], [10.0], [11.0], [12.0]])
    >>> labels = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2], np.uint32)
    >>> np.bincount(restarted(points, np.ones(9, np.uint32), labels, 3, silent)).tolist()
    [3, 3, 3]
    """
    random, labels = np.random.default_rng(0), labels.copy()
    centres = centres_of(points, persons, labels)
    number = min(PER_GROUP * len(centres), MOST) if len(centres) >= _SMALLEST else 0
    for step in range(number):
        progress(Progress("restarting between groups", step, number))
        groups = _neighbours(centres, random)
        inside = np.flatnonzero(np.isin(labels, groups))
        fresh = _better(points[inside], persons[inside], labels[inside], k, random)
        if fresh is not None:
            labels[inside] = fresh + np.uint32(len(centres))
            labels = np.unique(labels, return_inverse=True)[1].astype(np.uint32)
            centres = centres_of(points, persons, labels)
    return labels


def _neighbours(centres: Coordinates, random: np.random.Generator) -> NDArray[np.intp]:
    """Return a random group and some of its nearest neighbours."""
    group, size = int(random.integers(len(centres))), int(random.integers(_SMALLEST, _LARGEST + 1))
    apart = ((centres - centres[group]) ** 2).sum(axis=1)
    return np.argsort(apart, kind="stable")[:size]


def _better(
    points: Coordinates, persons: Persons, labels: Labels, k: int, random: np.random.Generator
) -> Labels | None:
    """Return better groups of some points from a random start; None if they are not better."""
    now = np.unique(labels, return_inverse=True)[1].astype(np.uint32)
    fresh = regrouped(points, persons, _random_groups(points, persons, k, random), k)
    before, after = sum_of_squares(points, persons, now), sum_of_squares(points, persons, fresh)
    return fresh if after < before * (1 - _CLEAR) else None


def _random_groups(points: Coordinates, persons: Persons, k: int, random: np.random.Generator) -> Labels:
    """Return groups of at least k persons: points in random order, or in their order along a random direction."""
    if random.random() < 0.5:
        order = random.permutation(len(points))
    else:
        order = np.argsort(points @ random.normal(size=points.shape[1]), kind="stable")
    heavy = persons[order].astype(np.int64)
    size = k + int(heavy.max()) - 1  # a stretch of that many persons contains at least k whose points begin in it
    groups = np.minimum((np.cumsum(heavy) - heavy) // size, max(int(heavy.sum()) // size - 1, 0))
    labels = np.empty(len(points), np.uint32)
    labels[order] = groups
    return labels
