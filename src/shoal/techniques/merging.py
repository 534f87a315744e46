"""Merging: groups that fail a requirement are merged with their nearest neighbours until none fails.

Soria-Comas et al. 2015, algorithm 1, for any requirement on classes.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.microaggregation import Coordinates, Labels
from shoal.techniques.jury import Jury
from shoal.techniques.squares import centres_of
from shoal.techniques.units import Mask, Units

_TOGETHER = 1 << 22  # pairs of groups whose distances are held in memory at a time


def merged(jury: Jury, units: Units, points: Coordinates, labels: Labels) -> tuple[Labels, Mask]:
    """Merge failing groups with the group of the nearest centre; return the groups, and which of them fail.

    A group fails in the end only if it contains all units.
    """
    everyone = np.arange(len(units))
    while True:
        labels = np.unique(labels, return_inverse=True)[1].astype(np.uint32)
        number = len(np.unique(labels))
        fails = jury.failing(units, everyone, labels, number)
        if number < 2 or not fails.any():
            return labels, fails
        failing = np.flatnonzero(fails)
        centres = centres_of(points, units.persons.astype(np.uint32), labels)
        labels = _joined(number, failing, _nearest(centres, failing))[labels]


def _nearest(centres: Coordinates, failing: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the nearest other group of each failing group; the first of equally near ones."""
    nearest = np.zeros(len(failing), np.intp)
    step = max(_TOGETHER // max(centres.size, 1), 1)
    for begin in range(0, len(failing), step):
        some = failing[begin : begin + step]
        apart = ((centres[some][:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        apart[np.arange(len(some)), some] = np.inf
        nearest[begin : begin + step] = np.argmin(apart, axis=1)
    return nearest


def _joined(number: int, some: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.uint32]:
    """Return the joined group of each group, if ``some`` are merged with ``others``: the lowest one of them."""
    group = np.arange(number)
    while True:
        before = group.copy()
        np.minimum.at(group, some, group[others])
        np.minimum.at(group, others, group[some])
        group = group[group]
        if (group == before).all():
            return group.astype(np.uint32)
