"""Sums of squares of groups of points: how far the points are from the centres of their groups."""

import numpy as np

from shoal.kernels.microaggregation import NONE, Coordinates, Labels, Persons
from shoal.search.objective import Ints


def centres_of(points: Coordinates, persons: Persons | Ints, labels: Labels) -> Coordinates:
    """Return the weighted mean of the points of each group.

    >>> centres_of(np.array([[1.0], [4.0]]), np.array([1, 2], np.uint32), np.array([0, 0], np.uint32)).tolist()
    [[3.0]]
    """
    heavy = persons.astype(np.float64)
    weights = np.bincount(labels, heavy)
    sums = [np.bincount(labels, heavy * points[:, column], len(weights)) for column in range(points.shape[1])]
    return np.asarray(np.stack(sums, axis=1) / weights[:, None]) if sums else np.zeros((len(weights), 0))


def sum_of_squares(points: Coordinates, persons: Persons | Ints, labels: Labels) -> float:
    """Return the sum over all persons of the squared distance from the centre of their group."""
    apart = points - centres_of(points, persons, labels)[labels]
    return float((persons * (apart * apart).sum(axis=1)).sum())


def with_rest(points: Coordinates, persons: Persons, labels: Labels) -> Labels:
    """Add points without a group to the group with the nearest centre; all are one group if there is none.

    >>> points, labels = np.array([[1.0], [8.0], [2.0]]), np.array([0, 1, NONE])
    >>> with_rest(points, np.ones(3, np.uint32), labels).tolist()
    [0, 1, 0]
    """
    rest = np.flatnonzero(labels == NONE)
    if len(rest) == len(labels):
        return np.zeros(len(labels), np.uint32)
    there = labels != NONE
    centres = centres_of(points[there], persons[there], labels[there])
    labels = labels.copy()
    for point in rest:  # few: fewer than a group needs, in each block
        labels[point] = np.argmin(((centres - points[point]) ** 2).sum(axis=1))
    return labels
