"""Members: the number of persons per group, kept so that groups can be merged without counting a person twice."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compatibility import Persons
from shoal.kernels.grouping import group_rows
from shoal.kernels.summing import summed

Ids = NDArray[np.uint32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Persons per group: ``counts[g]`` persons belong to group g.

    ``persons.rows[i]`` is the group of holder ``persons.holders[i]``. ``persons`` is None if no person belongs to two
    groups; counts are then additive.

    >>> import numpy as np
    >>> who, where = np.array([0, 0, 1], np.uint32), np.array([0, 1, 1], np.uint32)
    >>> members = Members.of(Persons(who, where, np.array([1, 5])), 2)
    >>> members.counts.tolist(), members.merged(np.array([0, 0], np.uint32), 1).counts.tolist()
    ([1, 6], [6])
    """

    counts: Counts
    persons: Persons | None = None

    @classmethod
    def of(cls, persons: Persons, number: int) -> "Members":
        """Count the persons in each of ``number`` groups; the same pair of holder and group may occur repeatedly."""
        pairs = group_rows([persons.rows, persons.holders], [number, len(persons.weights)], len(persons.rows)).first
        once = replace(persons, holders=persons.holders[pairs], rows=persons.rows[pairs])
        return cls(summed(once.rows, once.weights[once.holders], number), once)

    def merged(self, into: Ids, number: int) -> "Members":
        """Merge groups into ``number`` new ones: group g becomes part of group ``into[g]``."""
        if self.persons is None:
            return Members(summed(into, self.counts, number))
        return Members.of(replace(self.persons, rows=into[self.persons.rows]), number)

    def chosen(self, groups: NDArray[np.intp]) -> "Members":
        """Return the chosen groups only; the i-th of them becomes group i."""
        if self.persons is None:
            return Members(self.counts[groups])
        place = np.full(len(self.counts), len(groups), np.uint32)
        place[groups] = np.arange(len(groups), dtype=np.uint32)
        chosen_rows = place[self.persons.rows] < len(groups)
        persons = replace(
            self.persons, holders=self.persons.holders[chosen_rows], rows=place[self.persons.rows[chosen_rows]]
        )
        return Members(self.counts[groups], persons)

    def beside(self, other: "Members") -> "Members":
        """Return these groups followed by other groups of the same persons."""
        counts = np.concatenate([self.counts, other.counts])
        if self.persons is None or other.persons is None:
            return Members(counts)
        rows = np.concatenate([self.persons.rows, other.persons.rows + np.uint32(len(self.counts))])
        holders = np.concatenate([self.persons.holders, other.persons.holders])
        return Members(counts, replace(self.persons, holders=holders, rows=rows))

    def within(self, groups: NDArray[np.bool_]) -> int:
        """Count the persons who belong to any of the selected groups.

        >>> import numpy as np
        >>> Members(np.array([3, 4])).within(np.array([True, False]))
        3
        """
        return int(self.merged(groups.astype(np.uint32), 2).counts[1])

    def holders(self) -> Persons:
        """Return the holders of each group; if no person belongs to two groups, each group is its own holder."""
        every = np.arange(len(self.counts), dtype=np.uint32)
        return self.persons or Persons(every, every, self.counts)
