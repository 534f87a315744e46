"""Association of columns, and groups of columns with strong association (Li et al. 2012)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.translation import Codes
from shoal.qualities.correlations import contingency, cramer
from shoal.table.column import Column
from shoal.table.scale import binned

Matrix = NDArray[np.float64]
Names = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Associations:
    """The associations of columns: ``squares[i, j]`` is φ² of the columns i and j of ``names``."""

    names: Names
    squares: Matrix

    @classmethod
    def of(cls, cells: Mapping[str, tuple[Column, Codes]]) -> "Associations":
        """Compute the associations of columns, given with the code of each record; many numbers are grouped."""
        bins = [(binned(column), codes) for column, codes in cells.values()]
        return cls(tuple(cells), associations([(groups[codes], number) for (groups, number), codes in bins]))

    def groups(self, number: int) -> tuple[Names, ...]:
        """Return at most ``number`` groups of columns with strong association."""
        of_name = grouped(self.squares, number)
        return tuple(
            tuple(name for name, at in zip(self.names, of_name, strict=True) if at == group)
            for group in np.unique(of_name)
        )

    def strongest(self, name: str, others: Sequence[str]) -> float:
        """Return the strongest association of a column with others; 0 if there are none."""
        places = [self.names.index(other) for other in others]
        return float(self.squares[self.names.index(name), places].max(initial=0.0))


def associations(columns: Sequence[tuple[NDArray[np.integer[Any]], int]]) -> Matrix:
    """Return φ² of each pair of columns, given by their codes and the number of codes; 0 (independent) to 1.

    φ² is the mean-square contingency, corrected for chance (Bergsma 2013): the square of Cramér's V.

    >>> one, two = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> associations([(one, 2), (two, 2), (one, 2)]).tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    squares = np.eye(len(columns))
    for (i, (first, width)), (j, (other, height)) in combinations(enumerate(columns), 2):
        ones = np.ones(len(first), np.int64)
        table = contingency(first.astype(np.int64), other.astype(np.int64), (width, height), ones)
        squares[i, j] = squares[j, i] = cramer(table) ** 2
    return squares


def grouped(squares: Matrix, number: int) -> NDArray[np.intp]:
    """Return the group of each column, at most ``number`` of them: k-medoids with the distance 1 − φ².

    Partitioning around medoids (Kaufman & Rousseeuw 1990): medoids are chosen one by one, and exchanged as long as this
    reduces the sum of the distances of all columns to their nearest medoid.

    >>> grouped(np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]]), 2).tolist()
    [0, 0, 1]
    """
    apart = 1 - squares
    medoids: list[int] = []
    while len(medoids) < min(number, len(apart)):
        medoids.append(_best(apart, [[*medoids, other] for other in range(len(apart)) if other not in medoids])[-1])
    while True:
        others = [other for other in range(len(apart)) if other not in medoids]
        swapped = [[*medoids[:at], other, *medoids[at + 1 :]] for at in range(len(medoids)) for other in others]
        better = _best(apart, [medoids, *swapped])
        if better == medoids:
            return np.asarray(np.argmin(apart[:, sorted(medoids)], axis=1))
        medoids = better


def _best(apart: Matrix, sets: Sequence[list[int]]) -> list[int]:
    """Return the set of medoids with the smallest sum of distances; the first one of several."""
    return sets[int(np.argmin([apart[:, medoids].min(axis=1).sum().round(12) for medoids in sets]))]
