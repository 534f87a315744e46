"""Typicality: how well the values of a record agree with each other, judged by pairs of columns."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from shoal.recoding.nodes import Floats

_SIGNIFICANT = 3.0  # standard deviations above the expectation from which information is no chance
_BINS = 8  # groups of the values of a column of numbers
MOST_GROUPS = 500  # values of a column without order, from which its pairs are too many to be counted


@dataclass(frozen=True, eq=False)
class Typicality:
    """The logarithm of the lift of each pair of values, ``log(n(a, b) · n / (n(a) · n(b)))``, learned from records.

    A record is the more typical, the larger the sum over its pairs (pointwise mutual information, Church & Hanks 1990).
    Half a record is added to the counts. ``edges``: the bounds of the groups of values of each column. ``lifts``: for
    each pair of columns, the logarithm by group; ``others``: the same for a record that is one of the counted ones, and
    is not to count itself. ``information``: the mutual information of each pair of columns, less what is due to chance.
    """

    edges: Mapping[str, Floats]
    lifts: Mapping[tuple[str, str], Floats]
    others: Mapping[tuple[str, str], Floats]
    information: Mapping[tuple[str, str], float]

    @classmethod
    def of(cls, places: Mapping[str, Floats], numeric: Collection[str], fixed: Collection[str] = ()) -> "Typicality":
        """Learn from records. ``numeric``: columns of numbers. ``fixed``: columns whose own pairs do not count.

        >>> sex, title = np.array([0.0, 1] * 20), np.array([0.0, 1] * 20)
        >>> typicality = Typicality.of({"sex": sex, "title": title}, [])
        >>> right, wrong = typicality.scores({"sex": np.array([0.0, 1]), "title": np.array([0.0, 0])})
        >>> bool(right > 0 > wrong)
        True
        """
        edges = {name: group_edges(values, is_numeric=name in numeric) for name, values in places.items()}
        edges = {name: bounds for name, bounds in edges.items() if 0 < len(bounds) < MOST_GROUPS}
        groups = {name: np.searchsorted(bounds, places[name], "right") for name, bounds in edges.items()}
        lifts, others = dict[tuple[str, str], Floats](), dict[tuple[str, str], Floats]()
        information = dict[tuple[str, str], float]()
        for first, other in combinations(edges, 2):
            if first in fixed and other in fixed:
                continue
            sizes = len(edges[first]) + 1, len(edges[other]) + 1
            counts = np.bincount(groups[first] * sizes[1] + groups[other], minlength=sizes[0] * sizes[1])
            table = counts.reshape(sizes).astype(np.float64)
            lifts[first, other], others[first, other] = _lifts(table)
            information[first, other] = _information(table)
        return cls(edges, lifts, others, information)

    def between(self, first: str, other: str) -> float:
        """Return the mutual information of two columns; 0 if it is not known."""
        return self.information.get((first, other), self.information.get((other, first), 0.0))

    def scores(self, places: Mapping[str, Floats], *, counted: bool = False) -> Floats:
        """Return the typicality of each record. ``counted``: whether the records are some of those learned from."""
        groups = {name: np.searchsorted(bounds, places[name], "right") for name, bounds in self.edges.items()}
        total = np.zeros(len(next(iter(places.values()))))
        for (first, other), lift in (self.others if counted else self.lifts).items():
            total += lift[groups[first], groups[other]]
        return total


def group_edges(values: Floats, *, is_numeric: bool) -> Floats:
    """Return the bounds of the groups: each value, or quantiles of many numbers. A missing value is its own group."""
    distinct = np.unique(values)
    if is_numeric and len(distinct) > _BINS:
        known = values[np.isfinite(values)]
        return np.unique([distinct[0], *np.quantile(known, np.arange(_BINS) / _BINS)])[1:]
    return distinct[1:]


def _lifts(counts: Floats) -> tuple[Floats, Floats]:
    """Return the logarithm of the lift of each cell, and of each cell with one record fewer."""
    number, rows, columns = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    expected = np.outer(rows, columns) / max(number, 1)
    less = np.outer(np.maximum(rows - 1, 0), np.maximum(columns - 1, 0)) / max(number - 1, 1)
    return np.log((counts + 0.5) / (expected + 0.5)), np.log((np.maximum(counts - 1, 0) + 0.5) / (less + 0.5))


def _information(counts: Floats) -> float:
    """Return the mutual information in a table of counts, less its expectation under independence (Miller 1955).

    0 if it may be due to chance: twice the number of records times the information has a χ² distribution.
    """
    number, rows, columns = max(counts.sum(), 1), counts.sum(axis=1), counts.sum(axis=0)
    there = counts > 0
    total = (counts[there] * np.log(counts[there] * number / np.outer(rows, columns)[there])).sum() / number
    free = (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1)
    by_chance, spread = free / (2 * number), np.sqrt(2 * free) / (2 * number)
    return float(total - by_chance) if total > by_chance + _SIGNIFICANT * spread else 0.0
