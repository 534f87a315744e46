"""A walk through schemes whose columns exceed one key; every scheme is counted separately."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import group_rows
from shoal.kernels.lattice import FIGURES, Lattice, Tallies
from shoal.kernels.translation import Codes


@dataclass(eq=False)
class WideWalk:
    """Rows with the node ``nodes[j][r]`` on the lowest level of column j. Columns with a single node are skipped.

    >>> import numpy as np
    >>> lattice = Lattice(((np.zeros(3, np.uint32),),), ((3, 1),))
    >>> walk = WideWalk(lattice, [np.array([0, 1, 2], np.uint8)], np.array([1, 1, 5]), np.array([1, 1, 5]))
    >>> found = walk.tally(np.arange(2), [2])
    >>> found.figures[:, :, 0].tolist(), found.marginals[:, 0].tolist()
    ([[2, 1], [0, 1]], [[1, 1, 0], [0, 0, 0]])
    """

    lattice: Lattice
    nodes: Sequence[Codes]
    persons: NDArray[np.int64]
    records: NDArray[np.int64]

    def another(self, *, keeping: bool | None = None) -> "WideWalk":  # noqa: ARG002 - it keeps nothing
        """Return this walk for another thread; it has no state of its own."""
        return self

    @cached_property
    def _levels(self) -> list[list[Codes]]:
        """The node of each row, per column and level."""
        levels = []
        for lowest, steps in zip(self.nodes, self.lattice.steps, strict=True):
            column = [lowest]
            for step in steps:
                column.append(step[column[-1]])
            levels.append(column)
        return levels

    def tally(self, schemes: NDArray[np.int64], bounds: Sequence[int], limit: int | None = None) -> Tallies:
        """Count the classes of schemes, as ``Walk.tally`` does."""
        bands = len(bounds) + 1
        figures = np.zeros((len(schemes), bands, len(FIGURES)), np.uint64)
        marginals = np.zeros((len(schemes), bands - 1, self.lattice.width), np.uint32)
        for place, levels in enumerate(self.lattice.levels(schemes)):
            used = [column for column, level in enumerate(levels) if self.lattice.sizes[column][level] > 1]
            nodes = [self._levels[column][levels[column]] for column in used]
            sizes = [self.lattice.sizes[column][levels[column]] for column in used]
            classes = group_rows(nodes, sizes, len(self.persons))
            band = self._count(classes.ids, len(classes), bounds, figures[place])
            if limit is None or figures[place, 0, FIGURES.index("persons")] <= limit:
                self._spread(band[classes.ids], dict(zip(used, nodes, strict=True)), marginals[place])
        return Tallies(schemes, figures, marginals)

    def _count(
        self, of_row: NDArray[np.uint32], number: int, bounds: Sequence[int], figures: NDArray[np.uint64]
    ) -> NDArray[np.intp]:
        """Compute the figures of each band, and return the band of each class."""
        persons = np.bincount(of_row, self.persons, number)
        records = np.bincount(of_row, self.records, number)
        band = np.searchsorted(bounds, persons, side="right")
        for place, weights in enumerate((np.ones(number), persons, records, np.square(records))):
            figures[:, place] = np.bincount(band, weights, len(bounds) + 1).astype(np.uint64)
        return band

    def _spread(self, band: NDArray[np.intp], nodes: dict[int, Codes], marginals: NDArray[np.uint32]) -> None:
        """Count the records in each node for every band but the last."""
        for number, counts in enumerate(marginals):
            rows = np.flatnonzero(band == number)
            records = self.records[rows]
            for column, offset in enumerate(self.lattice.offsets[:-1]):
                if column in nodes:
                    sizes_of = np.bincount(nodes[column][rows], records)
                    counts[offset : offset + len(sizes_of)] = sizes_of
                else:
                    counts[offset] = records.sum()
