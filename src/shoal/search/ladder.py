"""A ladder: the levels of one column, prepared for a walk through the lattice."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError
from shoal.hierarchy.hierarchy import Hierarchy

Ids = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """A range of levels of a hierarchy, starting at ``low``, with nodes numbered in tree order.

    ``places[code]``: the node of each code of the column on the lowest level. ``steps[l][node]``: the parent of a node
    of level l. ``sizes[l]``: the number of nodes on level l. ``numbers[l][node]``: the number of a node in the
    hierarchy.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> from shoal.hierarchy.explicit import Explicit
    >>> kinds = Explicit(values={"cat": ["pet"], "cow": ["farm"], "dog": ["pet"]})
    >>> ladder = Ladder.of(bind(kinds, shoal.read({"x": ["cat", "cow", "dog"]}), "x"))
    >>> ladder.places.tolist(), [step.tolist() for step in ladder.steps], ladder.sizes
    ([0, 2, 1], [[0, 0, 1], [0, 0]], (3, 2, 1))
    """

    hierarchy: Hierarchy
    low: int
    places: Ids
    steps: tuple[Ids, ...]
    sizes: tuple[int, ...]
    numbers: tuple[NDArray[np.intp], ...]

    def maps(self) -> tuple[Ids, ...]:
        """Return, per level, the ancestor of each node of the lowest level."""
        maps = [np.arange(self.sizes[0], dtype=np.uint32)]
        for step in self.steps:
            maps.append(step[maps[-1]])
        return tuple(maps)

    def blank(self) -> tuple[NDArray[np.bool_], ...]:
        """Return, per level, a mask of the nodes of the lowest level that are blank on it."""
        return tuple(hidden[nodes] for hidden, nodes in zip(self.hidden(), self.maps(), strict=True))

    def hidden(self) -> tuple[NDArray[np.bool_], ...]:
        """Return, per level, a mask of its blank nodes."""
        nothing = [self.hierarchy.suppressed_node(self.low + level) for level in range(len(self.sizes))]
        return tuple(
            np.zeros(len(numbers_of), bool) if node is None else numbers_of == node
            for numbers_of, node in zip(self.numbers, nothing, strict=True)
        )

    @property
    def blanks_some(self) -> bool:
        """Whether a level has both blank nodes and nodes that are not blank."""
        return any(0 < int(hidden.sum()) < len(hidden) for hidden in self.hidden())

    @classmethod
    def of(cls, hierarchy: Hierarchy, bounds: tuple[int, int] | None = None) -> "Ladder":
        """Build the ladder from all levels of a hierarchy, or from those within bounds."""
        low, high = bounds or (0, hierarchy.height)
        if not 0 <= low <= high <= hierarchy.height:
            raise PolicyError(
                "no-such-level",
                "Column '{column}' does not have the levels {low} to {high}. Its hierarchy has the levels 0 to {top}.",
                low=low,
                high=high,
                column=hierarchy.column,
                top=hierarchy.height,
            )
        nodes = np.array([hierarchy.nodes(level) for level in range(low, high + 1)])
        order = np.lexsort(nodes)  # makes equal nodes adjacent on every level
        nodes = nodes[:, order]
        new = np.ones(nodes.shape, bool)
        np.not_equal(nodes[:, 1:], nodes[:, :-1], out=new[:, 1:])
        placed = new.cumsum(axis=1, dtype=np.uint32) - np.uint32(1)
        firsts = [firsts_of.nonzero()[0] for firsts_of in new]
        places = np.empty(len(order), np.uint32)
        places[order] = placed[0]
        steps = tuple(above[first] for above, first in zip(placed[1:], firsts, strict=False))
        numbers = tuple(nodes_of[first].astype(np.intp) for nodes_of, first in zip(nodes, firsts, strict=True))
        return cls(hierarchy, low, places, steps, tuple(map(len, firsts)), numbers)
