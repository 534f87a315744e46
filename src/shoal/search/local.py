"""What a local recoding comes to: every row shows sets of its own."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.cuts import Ids
from shoal.recoding.nodes import Ints, Nodes
from shoal.recoding.recoding import Recoding
from shoal.search.axis import Axis, TreeAxis
from shoal.search.jury import Jury
from shoal.search.space import Space

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """Distinct row r under the quasi-identifiers shows the set ``shown[j][r]`` of ``nodes[j]`` in column j.

    Columns are those of the space's ``names``. ``levels[j][r]``: the level of that set in the hierarchy, None where
    sets are on none. ``suppressed[r]``: whether it found no class; ``persons``: how many that are.
    """

    nodes: tuple[Nodes, ...]
    shown: tuple[Ints, ...]
    levels: tuple[Ints | None, ...]
    suppressed: Mask
    persons: int

    @classmethod
    def of_levels(cls, jury: Jury, trees: Sequence[TreeAxis], levels: Ints, left: Mask) -> "Local":
        """Take the level of each row that a jury judges, in each column."""
        sets = []
        for column, (axis, codes) in enumerate(zip(trees, jury.codes, strict=True)):
            nodes, of_code = Nodes.on_levels(axis.domain, axis.ladder.hierarchy)
            sets.append((nodes, np.asarray(of_code[levels[:, column], codes]), levels[:, column]))
        return cls._of(jury, sets, left)

    @classmethod
    def of_stretches(cls, jury: Jury, chosen: Sequence[Axis], low: Ids, high: Ids, left: Mask) -> "Local":
        """Take the stretch of each row that a jury judges, on each axis."""
        sets = []
        for column, (axis, codes) in enumerate(zip(chosen, jury.codes, strict=True)):
            ends = low[:, column], high[:, column]
            nodes, shown = axis.cells(*ends, codes)
            sets.append((nodes, shown, axis.levels(*ends) if isinstance(axis, TreeAxis) else None))
        return cls._of(jury, sets, left)

    def recoding(self, space: Space) -> Recoding:
        """Return what it makes of the table."""
        rows = space.table.distinct(space.quasi)
        sets = dict(zip(space.names, zip(self.nodes, self.shown, strict=True), strict=True))
        return Recoding.of_nodes(rows, sets, self.suppressed)

    def on_levels(self, space: Space) -> dict[str, Ints]:
        """Return the level of each row in the columns that have levels."""
        held = dict(zip(space.names, self.levels, strict=True))
        return {name: levels for name in space.quasi if (levels := held[name]) is not None}

    @classmethod
    def _of(cls, jury: Jury, sets: Sequence[tuple[Nodes, Ints, Ints | None]], left: Mask) -> "Local":
        """Rows that differ in sensitive values only show the same."""
        suppressed = np.ones(jury.quasi_rows, bool)
        suppressed[jury.of_shown] = left

        def by_quasi_row(numbers: Ints, otherwise: int) -> Ints:
            found = np.full(jury.quasi_rows, otherwise, np.int64)
            found[jury.of_shown] = numbers
            return found

        nodes = tuple(held for held, _, _ in sets)
        shown = tuple(
            np.where(suppressed, len(held) - 1, by_quasi_row(numbers, len(held) - 1)) for held, numbers, _ in sets
        )
        levels = tuple(None if held is None else by_quasi_row(held, 0) for _, _, held in sets)
        return cls(nodes, shown, levels, suppressed, int(jury.persons[left].sum()))
