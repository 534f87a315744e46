"""What a local recoding comes to: every row shows sets of its own."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows
from shoal.kernels.cuts import Spans
from shoal.recoding.nodes import Ints, Nodes
from shoal.recoding.recoding import Recoding
from shoal.search.axis import Axis, TreeAxis
from shoal.search.jury import Jury, Units
from shoal.search.space import Space

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """Row r of ``rows`` shows the set ``shown[j][r]`` of ``nodes[j]`` in column j of the space's ``names``.

    ``levels[j][r]``: the level of that set in the hierarchy, None where sets are on none. ``suppressed[r]``: whether it
    found no class; ``persons``: how many that are.
    """

    rows: DistinctRows
    nodes: tuple[Nodes, ...]
    shown: tuple[Ints, ...]
    levels: tuple[Ints | None, ...]
    suppressed: Mask
    persons: int

    @classmethod
    def of_levels(cls, jury: Jury, trees: Sequence[TreeAxis], levels: Ints, left: Mask) -> "Local":
        """Take the level of each unit in each column; ``left``: those that are suppressed."""
        sets = []
        for column, (axis, codes) in enumerate(zip(trees, jury.codes, strict=True)):
            nodes, of_code = Nodes.on_levels(axis.domain, axis.ladder.hierarchy)
            sets.append((nodes, np.asarray(of_code[levels[:, column], codes]), levels[:, column]))
        return cls._of(jury.units, sets, left)

    @classmethod
    def of_parts(  # noqa: PLR0913, PLR0917 - units, axes, and the parts of units
        cls, jury: Jury, units: Units, chosen: Sequence[Axis], spans: Spans, part: Ints, left: Mask
    ) -> "Local":
        """Take the part of each unit; any part for those that are suppressed."""
        sets = []
        for column, (axis, codes) in enumerate(zip(chosen, jury.codes, strict=True)):
            ends = spans.low[:, column], spans.high[:, column]
            nodes, shown = axis.cells(*ends, part, codes[units.judged])
            sets.append((nodes, shown, axis.levels(*ends)[part] if isinstance(axis, TreeAxis) else None))
        return cls._of(units, sets, left)

    def recoding(self, space: Space) -> Recoding:
        """Return what it makes of the table."""
        sets = dict(zip(space.names, zip(self.nodes, self.shown, strict=True), strict=True))
        return Recoding.of_nodes(self.rows, sets, self.suppressed)

    def on_levels(self, space: Space) -> dict[str, Ints]:
        """Return the level of each row in the columns that have levels."""
        held = dict(zip(space.names, self.levels, strict=True))
        return {name: levels for name in space.quasi if (levels := held[name]) is not None}

    @classmethod
    def _of(cls, units: Units, sets: Sequence[tuple[Nodes, Ints, Ints | None]], left: Mask) -> "Local":
        """Units of one row show the same."""
        suppressed = np.ones(len(units.rows), bool)
        suppressed[units.of_row] = left

        def by_row(numbers: Ints, otherwise: int) -> Ints:
            found = np.full(len(suppressed), otherwise, np.int64)
            found[units.of_row] = numbers
            return np.where(suppressed, otherwise, found)

        return cls(
            units.rows,
            tuple(nodes for nodes, _, _ in sets),
            tuple(by_row(shown, len(nodes) - 1) for nodes, shown, _ in sets),
            tuple(None if levels is None else by_row(levels, 0) for _, _, levels in sets),
            suppressed,
            int(units.persons[left].sum()),
        )
