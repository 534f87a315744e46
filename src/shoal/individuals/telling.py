"""Disclosive attributes of one person: the combinations of known variables from which another can be inferred."""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.subsets import Rows

Subsets: TypeAlias = NDArray[np.uint64]
PersonCounts: TypeAlias = NDArray[np.int64]
ALL = 16  # maximum number of columns whose combinations are all counted at once
_PATTERN = np.uint64((1 << ALL) - 1)
_TERMS = 1 << 22  # maximum number of terms; with more, combinations are counted one by one
_TOGETHER = 1 << 22  # pairs of a combination and a row per comparison


class Lookalikes:
    """Peers of one person, counted for any combination of columns."""

    def __init__(self, rows: Rows, row: int) -> None:
        agree = rows.agreement(row)
        self._lacking = np.uint64(
            sum(1 << place for place in range(len(rows.columns)) if rows.lacking(1 << place)[row])
        )
        terms = _terms(rows, agree) if len(rows.columns) <= ALL else None
        self._count = _one_by_one(rows, agree) if terms is None else _all_at_once(len(rows.columns), *terms)

    def persons(self, subsets: Subsets) -> PersonCounts:
        """Return the number of persons who agree in each of some subsets of the columns."""
        return np.where(subsets & self._lacking, 1, self._count(subsets))  # unique if a value matches nothing

    def telling(self, variable: int, subsets: Subsets, p: Fraction) -> Subsets:
        """Return the minimal subsets that disclose a variable up to a share p.

        A subset discloses it if, of the persons who agree in the subset, at most a share p has another value in the
        column ``variable``.

        >>> rows = Rows.of([np.array([0, 0, 1]), np.array([0, 1, 1])], np.ones(3, np.int64))
        >>> Lookalikes(rows, 0).telling(0, np.array([2], np.uint64), Fraction(0)).tolist()  # no other has 0 in column 1
        [2]
        """
        alike, same = self.persons(subsets), self.persons(subsets | np.uint64(1 << variable))
        return minimal(subsets[_at_most(alike - same, alike, p)])


def _at_most(part: PersonCounts, whole: PersonCounts, p: Fraction) -> NDArray[np.bool_]:
    """Return where part / whole ≤ p, in exact arithmetic."""
    if p.denominator * max(int(whole.max(initial=1)), 1) < 1 << 62:
        return np.asarray(part * p.denominator <= whole * p.numerator)
    return np.asarray(part.astype(object) * p.denominator <= whole.astype(object) * p.numerator, bool)


def minimal(subsets: Subsets) -> Subsets:
    """Return the subsets that contain no other one, the smallest first.

    >>> minimal(np.array([7, 3, 4, 6], np.uint64)).tolist()
    [4, 3]
    """
    subsets = np.unique(subsets)
    sizes = np.bitwise_count(subsets)
    smallest = np.zeros(0, np.uint64)
    for size in np.unique(sizes):
        some = subsets[sizes == size]
        larger = np.zeros(len(some), bool)
        for subset in smallest:
            larger |= some & subset == subset
        smallest = np.concatenate([smallest, some[~larger]])
    return smallest


def _terms(rows: Rows, agree: Subsets) -> tuple[Subsets, PersonCounts] | None:
    """Return patterns and factors: the factors of all patterns that contain a subset sum to its number of persons.

    A person with one row counts for every subset of the pattern in which it agrees. A person with several rows counts
    for the union of these subsets: [s ⊆ p or s ⊆ q] = [s ⊆ p] + [s ⊆ q] − [s ⊆ p ∩ q], row after row. None if there are
    too many terms.
    """
    if len(rows.weights) == len(rows):
        return agree, rows.weights[rows.holders]
    order = np.argsort(rows.holders, kind="stable")
    holders, agree = rows.holders[order].astype(np.uint64), agree[order]
    starts = np.flatnonzero(np.concatenate([[True], holders[1:] != holders[:-1]]))
    turn = np.arange(len(holders)) - np.repeat(starts, np.diff([*starts, len(holders)]))
    keys, factors = np.zeros(0, np.uint64), np.zeros(0, np.int64)
    for number in range(int(turn.max(initial=0)) + 1):
        now = np.flatnonzero(turn == number)
        pattern = np.zeros(len(rows.weights), np.uint64)
        there = np.zeros(len(rows.weights), bool)
        pattern[holders[now]], there[holders[now]] = agree[now], True
        owner = keys >> np.uint64(ALL)
        old = there[owner]
        both = owner[old] << np.uint64(ALL) | (keys[old] & _PATTERN & pattern[owner[old]])
        keys = np.concatenate([keys, both, holders[now] << np.uint64(ALL) | agree[now]])
        factors = np.concatenate([factors, -factors[old], np.ones(len(now), np.int64)])
        keys, place = np.unique(keys, return_inverse=True)
        factors = np.bincount(place, factors, len(keys)).astype(np.int64)
        keys, factors = keys[factors != 0], factors[factors != 0]
        if len(keys) > _TERMS:
            return None
    return keys & _PATTERN, factors * rows.weights[(keys >> np.uint64(ALL)).astype(np.intp)]


def _all_at_once(columns: int, patterns: Subsets, factors: PersonCounts) -> Callable[[Subsets], PersonCounts]:
    """Count all subsets at once: a person who agrees in a set of columns agrees in all its subsets."""
    counts = np.bincount(patterns.astype(np.intp), factors, 1 << columns).astype(np.int64)
    for place in range(columns):
        halves = counts.reshape(-1, 2, 1 << place)
        halves[:, 0] += halves[:, 1]
    return lambda subsets: counts[subsets.astype(np.intp)]


def _one_by_one(rows: Rows, agree: Subsets) -> Callable[[Subsets], PersonCounts]:
    """Count each subset separately; a person who agrees with several rows counts once."""
    order = np.argsort(rows.holders, kind="stable")
    holders, agree = rows.holders[order], agree[order]
    starts = np.flatnonzero(np.concatenate([[True], holders[1:] != holders[:-1]]))
    weights = rows.weights[holders[starts]]
    step = max(_TOGETHER // max(len(agree), 1), 1)

    def count(subsets: Subsets) -> PersonCounts:
        counts = np.zeros(len(subsets), np.int64)
        for begin in range(0, len(subsets), step):
            some = subsets[begin : begin + step, None]
            agrees = np.logical_or.reduceat(agree & some == some, starts, axis=1)
            counts[begin : begin + step] = agrees @ weights
        return counts

    return count
