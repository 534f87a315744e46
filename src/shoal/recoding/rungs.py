"""Rungs: the counts of one column on the levels of its hierarchy, for the evaluation of many schemes at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.hierarchy import Hierarchy
from shoal.recoding.nodes import Domain, Floats, Ints, Nodes


@dataclass(frozen=True, slots=True, eq=False)
class Rungs:
    """Nodes that occur in a table, by level.

    ``numbers[l][i]``: the number in the hierarchy of node i of the l-th level. ``low``: the first level.
    ``records[l, i]``: the number of records with a node, 0 where there is none. ``original``: the number of records
    with each code of the column. ``total``: the number of records.
    """

    domain: Domain
    low: int
    numbers: Sequence[NDArray[np.intp]]
    records: Ints
    original: Ints
    total: int

    @classmethod
    def of(cls, domain: Domain, low: int, numbers: Sequence[NDArray[np.intp]], original: Ints) -> "Rungs":
        """Count the records of each node. ``original``: the number of records with each code, without blank records."""
        hierarchy = domain.hierarchy
        if hierarchy is None:
            raise ValueError("rungs are those of a hierarchy")
        records = np.zeros((len(numbers), len(numbers[0])), np.int64)
        for place, number in enumerate(numbers):
            counts = np.bincount(hierarchy.nodes(low + place), original, len(hierarchy.levels[low + place]))
            records[place, : len(number)] = counts[number]
        return cls(domain, low, numbers, records, original, int(original.sum()))

    @property
    def _hierarchy(self) -> Hierarchy:
        assert self.domain.hierarchy is not None  # noqa: S101 - checked in ``of``
        return self.domain.hierarchy

    def by_code(self, numbers: Floats) -> Floats:
        """Return, for each level, the value of the node that contains each occurring code.

        ``numbers[l, i]``: the value, such as a cost, of node i of the l-th level.
        """
        hierarchy = self._hierarchy
        occurring, by_column = np.flatnonzero(self.original), list[Floats]()
        for place, number in enumerate(self.numbers):
            of_number = np.zeros(len(hierarchy.levels[self.low + place]))
            of_number[number] = numbers[place, : len(number)]
            by_column.append(of_number[hierarchy.nodes(self.low + place)[occurring]])
        return np.array(by_column)

    def spread(self, costs: Callable[[Nodes], Floats]) -> tuple[Floats, Floats]:
        """Return the cost of each node on each level, and the cost of a suppressed record on each level.

        ``costs``: returns the cost of each node.
        """
        hierarchy = self._hierarchy
        nodes, of_number = Nodes.by_number(self.domain, hierarchy, range(self.low, self.low + len(self.numbers)))
        node_costs, spread = costs(nodes), np.zeros(self.records.shape)
        for place, numbers in enumerate(self.numbers):
            spread[place, : len(numbers)] = node_costs[of_number[place][numbers]]
        return spread, np.full(len(self.numbers), node_costs[-1])
