"""A ladder: one column as a walk through the lattice sees it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError
from shoal.hierarchy.hierarchy import Hierarchy

Ids = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """Levels ``low`` to ``high`` of a hierarchy, with nodes numbered as they follow each other in the tree.

    ``places[code]``: the node of each code of the column on the lowest level. ``steps[l][node]``: the node above.
    ``sizes[l]``: how many nodes there are. ``numbers[l][node]``: the number that a node has in the hierarchy.

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
        """Return the node on each level of each node on the lowest."""
        found = [np.arange(self.sizes[0], dtype=np.uint32)]
        for step in self.steps:
            found.append(step[found[-1]])
        return tuple(found)

    @classmethod
    def of(cls, hierarchy: Hierarchy, bounds: tuple[int, int] | None = None) -> "Ladder":
        """Take the levels of a hierarchy, or those within bounds."""
        low, high = bounds or (0, hierarchy.height)
        if not 0 <= low <= high <= hierarchy.height:
            raise PolicyError(
                f"The levels {low} to {high} of column '{hierarchy.column}' are not there: its hierarchy has the "
                f"levels 0 to {hierarchy.height}."
            )
        nodes = [hierarchy.nodes(level) for level in range(low, high + 1)]
        order = np.lexsort(nodes)
        placed = [_placed(held, order) for held in nodes]
        sizes = tuple(int(place.max()) + 1 for place in placed)
        steps = tuple(
            _inverse(below, above, size) for below, above, size in zip(placed, placed[1:], sizes, strict=False)
        )
        numbers = tuple(_inverse(*both).astype(np.intp) for both in zip(placed, nodes, sizes, strict=True))
        return cls(hierarchy, low, placed[0], steps, sizes, numbers)


def _placed(nodes: Ids, order: NDArray[np.intp]) -> Ids:
    """Number nodes by where they come in an order in which equal ones are neighbours."""
    sorted_nodes = nodes[order]
    new = np.zeros(len(nodes), np.uint32)
    new[1:] = sorted_nodes[1:] != sorted_nodes[:-1]
    placed = np.empty(len(nodes), np.uint32)
    placed[order] = np.cumsum(new, dtype=np.uint32)
    return placed


def _inverse(keys: Ids, values: Ids, size: int) -> Ids:
    """Return what belongs to each key."""
    found = np.zeros(size, np.uint32)
    found[keys] = values
    return found
