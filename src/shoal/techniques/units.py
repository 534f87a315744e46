"""Units: the smallest groups of records that a recoding must not divide."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows
from shoal.kernels.grouping import group_rows
from shoal.search.objective import Ints

Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The smallest groups of records that a recoding must not divide.

    Unit u belongs to row ``of_row[u]`` of ``rows`` and stands for ``persons[u]`` persons. ``judged[u]``: its row in the
    jury. ``holders[u]``: the person of the unit, if persons have several units; a person counts once in each group of
    units. None: no person has two units.

    >>> rows = DistinctRows(("x",), (np.arange(3),), np.ones(3, np.int64))
    >>> units = Units(rows, np.arange(3), np.arange(3), np.ones(3, np.int64), np.array([0, 0, 1]))
    >>> units.sizes(np.arange(3), np.zeros(3, np.uint32), 1).tolist(), units.count(np.array([True, True, False]))
    ([2], 1)
    """

    rows: DistinctRows
    of_row: Rows
    judged: Rows
    persons: Ints
    holders: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.persons)

    def sizes(self, chosen: Rows, of_group: NDArray[np.uint32], number: int) -> Ints:
        """Return the number of persons in each of ``number`` groups of the chosen units."""
        if self.holders is None:
            return np.bincount(of_group, self.persons[chosen], number).astype(np.int64)
        holders = self.holders[chosen].astype(np.uint32)
        pairs = group_rows([of_group, holders], [number, int(holders.max(initial=0)) + 1], len(chosen))
        return np.bincount(of_group[pairs.first], minlength=number).astype(np.int64)

    def count(self, chosen: Mask) -> int:
        """Return the number of persons with any of the chosen units."""
        if self.holders is None:
            return int(self.persons[chosen].sum())
        return len(np.unique(self.holders[chosen]))

    def whole(self, chosen: Rows, good: Mask) -> Mask:
        """Return which of the chosen units belong to persons all of whose chosen units are good."""
        if self.holders is None:
            return good
        holders = self.holders[chosen]
        spoilt = np.zeros(int(self.holders.max(initial=-1)) + 1, bool)
        spoilt[holders[~good]] = True
        return ~spoilt[holders]
