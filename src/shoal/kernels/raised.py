"""Rows on generalisation levels: the node of each row on each level of its columns, computed on demand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import changes
from shoal.kernels.lattice import Lattice
from shoal.kernels.ordering import order
from shoal.kernels.packing import packed
from shoal.kernels.translation import Codes, narrowest, translate

Numbers = NDArray[np.uint32]
_ONE = (-1, -1)  # represents all levels with a single node
_WORTH_IT = 3 / 4  # maximum share of rows left after merging; beyond it, the rows are not merged


@dataclass(frozen=True, eq=False)
class Raised:
    """Rows with their numbers of ``persons`` and ``records``. ``find``: returns their nodes on a level of a column.

    >>> import numpy as np
    >>> lattice, ones = Lattice(((np.array([0, 0, 1], np.uint32),), ()), ((3, 2), (2,))), np.ones(3, np.uint32)
    >>> codes, places = [np.array([0, 2, 1], np.uint8), np.zeros(3, np.uint8)], [np.arange(3), np.arange(2)]
    >>> rows = Raised.of(lattice, codes, places, ones, ones)
    >>> rows.nodes(0, 1).tolist()
    [0, 1, 0]
    >>> coarser = rows.rolled(1)
    >>> coarser.nodes(0, 1).tolist(), coarser.persons.tolist()
    ([0, 1], [2, 1])
    """

    lattice: Lattice
    persons: Numbers
    records: Numbers
    find: Callable[[int, int], Codes]
    _found: dict[tuple[int, int], Codes] = field(default_factory=dict)
    _rolled: dict[int, "Raised"] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        lattice: Lattice,
        codes: Sequence[Codes],
        places: Sequence[NDArray[np.integer[Any]]],
        persons: Numbers,
        records: Numbers,
    ) -> "Raised":
        """Create rows from codes: code c of column j is node ``places[j][c]`` on its lowest level."""

        def find(column: int, level: int) -> Codes:
            sizes = lattice.sizes[column]
            up = places[column]
            for step in lattice.steps[column][:level]:
                up = step[up]
            nodes = np.empty(len(persons), narrowest(sizes[level]))
            translate(codes[column], up, nodes)
            return nodes

        return cls(lattice, persons, records, find)

    def __len__(self) -> int:
        return len(self.persons)

    def nodes(self, column: int, level: int) -> Codes:
        """Return the nodes of all rows on a level: always the same array, regardless of the calling thread."""
        place = _ONE if self.lattice.sizes[column][level] == 1 else (column, level)
        if place not in self._found:
            nodes = np.zeros(len(self), np.uint8) if place == _ONE else self.find(column, level)
            self._found.setdefault(place, nodes)
        return self._found[place]

    def rolled(self, level: int) -> "Raised":
        """Return the rows merged for schemes with the first column on a given level.

        Rows that coincide on that level become one row. If hardly any coincide, the rows are returned unchanged.
        """
        if level and level not in self._rolled:
            self._rolled.setdefault(level, self._roll(level))
        return self._rolled[level] if level else self

    def _roll(self, level: int) -> "Raised":
        ordered, other = self._neighbours
        new = other | changes([self.nodes(0, level)[ordered]], len(self))
        new[:1] = True
        begin = np.flatnonzero(new)
        if len(begin) > _WORTH_IT * len(self):
            return self
        chosen = ordered[begin]
        persons = np.add.reduceat(self.persons[ordered], begin, dtype=np.uint32)
        is_same = self.records is self.persons
        records = persons if is_same else np.add.reduceat(self.records[ordered], begin, dtype=np.uint32)
        return Raised(self.lattice, persons, records, lambda column, level: self.nodes(column, level)[chosen])

    @cached_property
    def _neighbours(self) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """An order in which rows that differ only in the first column are adjacent and its nodes ascend.

        Also a mask of the rows that differ from the previous row in another column.
        """
        columns = [*range(1, len(self.lattice.sizes)), 0]
        sizes = [self.lattice.sizes[column][0] for column in columns]
        keys = packed([self.nodes(column, 0) for column in columns], sizes)
        ordered = order(keys[-1]).astype(np.intp)
        for key in keys[-2::-1]:
            ordered = ordered[order(key[ordered])]
        others = [*keys[:-1], keys[-1] // np.uint64(sizes[-1])]
        return ordered, changes([key[ordered] for key in others], len(self))
