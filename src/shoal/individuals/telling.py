"""Which facts give one person away: the combinations of known variables that leave no doubt."""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.subsets import Rows

Subsets: TypeAlias = NDArray[np.uint64]
Counts: TypeAlias = NDArray[np.int64]
ALL = 16  # columns of which all combinations are counted at once
_TOGETHER = 1 << 22  # pairs of a combination and a row that are compared at once


class Lookalikes:
    """Who looks like one person, by what is known: they are counted for any combination of columns."""

    def __init__(self, rows: Rows, row: int) -> None:
        agree = rows.agreement(row)
        single = len(rows.weights) == len(rows)
        self._lacking = np.uint64(
            sum(1 << place for place in range(len(rows.columns)) if rows.lacking(1 << place)[row])
        )
        self._count = _of_single(rows, agree) if single and len(rows.columns) <= ALL else _one_by_one(rows, agree)

    def persons(self, subsets: Subsets) -> Counts:
        """Return how many persons agree in each of some subsets of the columns."""
        return np.where(subsets & self._lacking, 1, self._count(subsets))  # what matches nothing leaves one alone

    def telling(self, variable: int, subsets: Subsets, p: Fraction) -> Subsets:
        """Return the minimal ones of some subsets that tell a variable up to a share p.

        Of the persons who agree in a subset, a share has another value in the column ``variable``; if that is at most
        p, the subset tells it.

        >>> rows = Rows.of([np.array([0, 0, 1]), np.array([0, 1, 1])], np.ones(3, np.int64))
        >>> Lookalikes(rows, 0).telling(0, np.array([2], np.uint64), Fraction(0)).tolist()  # no other has 0 in column 1
        [2]
        """
        alike, same = self.persons(subsets), self.persons(subsets | np.uint64(1 << variable))
        return _minimal(subsets[_at_most(alike - same, alike, p)])


def _at_most(part: Counts, whole: Counts, p: Fraction) -> NDArray[np.bool_]:
    """Tell where part / whole ≤ p, exactly."""
    if p.denominator * max(int(whole.max(initial=1)), 1) < 1 << 62:
        return np.asarray(part * p.denominator <= whole * p.numerator)
    return np.asarray(part.astype(object) * p.denominator <= whole.astype(object) * p.numerator, bool)


def _minimal(subsets: Subsets) -> Subsets:
    """Return the subsets that hold no other one, the smallest first.

    >>> _minimal(np.array([7, 3, 4, 6], np.uint64)).tolist()
    [4, 3]
    """
    sizes = np.bitwise_count(subsets)
    found = np.zeros(0, np.uint64)
    for size in np.unique(sizes):
        some = np.sort(subsets[sizes == size])
        held = np.zeros(len(some), bool)
        for one in found:
            held |= some & one == one
        found = np.concatenate([found, some[~held]])
    return found


def _of_single(rows: Rows, agree: Subsets) -> Callable[[Subsets], Counts]:
    """Count all subsets at once, where everybody has one row: those who agree in more also agree in less."""
    counts = np.bincount(agree.astype(np.intp), rows.weights[rows.holders], 1 << len(rows.columns)).astype(np.int64)
    for place in range(len(rows.columns)):
        halves = counts.reshape(-1, 2, 1 << place)
        halves[:, 0] += halves[:, 1]
    return lambda subsets: counts[subsets.astype(np.intp)]


def _one_by_one(rows: Rows, agree: Subsets) -> Callable[[Subsets], Counts]:
    """Count each subset for itself; somebody who agrees with several rows counts once."""
    order = np.argsort(rows.holders, kind="stable")
    holders, agree = rows.holders[order], agree[order]
    starts = np.flatnonzero(np.concatenate([[True], holders[1:] != holders[:-1]]))
    weights = rows.weights[holders[starts]]
    step = max(_TOGETHER // max(len(agree), 1), 1)

    def count(subsets: Subsets) -> Counts:
        counts = np.zeros(len(subsets), np.int64)
        for begin in range(0, len(subsets), step):
            some = subsets[begin : begin + step, None]
            agrees = np.logical_or.reduceat(agree & some == some, starts, axis=1)
            counts[begin : begin + step] = agrees @ weights
        return counts

    return count
