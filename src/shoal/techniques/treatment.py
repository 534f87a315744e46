"""A treatment: what every row shows, in which class, and who is left out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows
from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes
from shoal.recoding.nodes import Domain, Fate, Ints, Nodes
from shoal.recoding.recoding import Recoding
from shoal.search.space import Space
from shoal.table.column import Column
from shoal.techniques.units import Units

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class DrawnCells:
    """A column whose cells are drawn, record by record: ``draw`` takes codes of the original and random numbers.

    ``column``: what the codes that it returns stand for. Every record gets a number of its own, or every person, if it
    is known whose records are whose; it hangs on a secret key and on the record, not on the order of records.
    """

    column: Column
    draw: Callable[[Codes, Words], Codes]


@dataclass(frozen=True, slots=True, eq=False)
class Treatment:
    """Row r of ``rows`` shows the set ``shown[j][r]`` of ``nodes[j]`` in column j of the space's ``names``.

    ``levels[j][r]``: the level of that set in the hierarchy, None where sets are on none. ``suppressed[r]``: whether it
    found no class; ``persons``: how many that are. ``scheme``: the level of each column, if all rows are on the same;
    ``facts``: how it was found. ``moved[r]``: whether the row shows what others are, and not what it is; None: none is.
    ``counterfeits``: the rows that invented records look like, one for each. ``drawn``: columns, quasi-identifiers or
    not, whose cells are drawn.
    """

    rows: DistinctRows
    nodes: tuple[Nodes, ...]
    shown: tuple[Ints, ...]
    levels: tuple[Ints | None, ...]
    suppressed: Mask
    persons: int
    scheme: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    moved: Mask | None = None
    counterfeits: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    drawn: Mapping[str, DrawnCells] = field(default_factory=dict)

    @classmethod
    def of_scheme(  # noqa: PLR0913, PLR0917 - a scheme, and what is known of it
        cls,
        space: Space,
        rows: DistinctRows,
        scheme: Mapping[str, int],
        suppressed: Mask,
        persons: int,
        facts: Mapping[str, Any],
    ) -> "Treatment":
        """Put every row on the levels of a scheme."""
        sets = []
        for name, ladder in zip(space.names, space.ladders, strict=True):
            domain, codes = Domain.of(space.table[name], ladder.hierarchy), rows.codes[space.quasi.index(name)]
            nodes, of_code = Nodes.on_level(domain, ladder.hierarchy, scheme[name])
            shown = np.where(suppressed, len(nodes) - 1, of_code[codes])
            sets.append((nodes, shown, np.full(len(rows), scheme[name])))
        nodes_, shown_, levels = zip(*sets, strict=True)
        return cls(rows, nodes_, shown_, levels, suppressed, persons, scheme, facts)

    def with_facts(self, before: Mapping[str, Any], **outliers: float) -> "Treatment":
        """Return the same, with numbers about its outliers that must be published."""
        return replace(self, facts={**before, "outliers": outliers})

    def recoding(self, space: Space) -> Recoding:
        """Return what it makes of the table."""
        sets = dict(zip(space.names, zip(self.nodes, self.shown, strict=True), strict=True))
        return Recoding.of_nodes(self.rows, sets, self.suppressed, self.moved)

    def on_levels(self, space: Space) -> dict[str, list[int]]:
        """Return how many records are on each level of the columns that have levels."""
        by_column = {nodes.domain.column.name: levels for nodes, levels in zip(self.nodes, self.levels, strict=True)}
        kept = np.flatnonzero(~self.suppressed)
        counts = self.rows.counts[kept]
        return {
            name: np.bincount(levels[kept], counts).astype(int).tolist()
            for name in space.quasi
            if (levels := by_column[name]) is not None
        }

    def heights(self, space: Space) -> dict[str, int | None]:
        """Return the last level of each column's hierarchy."""
        heights = {nodes.domain.column.name: nodes.domain.height for nodes in self.nodes}
        return {name: heights[name] for name in space.quasi}

    @classmethod
    def of_units(cls, units: Units, sets: Sequence[tuple[Nodes, Ints, Ints | None]], left: Mask) -> "Treatment":
        """Join units with the same released row. Blank units are suppressed, unless all units are blank."""
        blank = np.all([nodes.fates[shown] == Fate.SUPPRESSED for nodes, shown, _ in sets], axis=0)
        left = left if blank[~left].all() else left | blank
        suppressed = np.ones(len(units.rows), bool)
        suppressed[units.of_row] = left

        def by_row(numbers: Ints, otherwise: int) -> Ints:
            values = np.full(len(suppressed), otherwise, np.int64)
            values[units.of_row] = numbers
            return np.where(suppressed, otherwise, values)

        return cls(
            units.rows,
            tuple(nodes for nodes, _, _ in sets),
            tuple(by_row(shown, len(nodes) - 1) for nodes, shown, _ in sets),
            tuple(None if levels is None else by_row(levels, 0) for _, _, levels in sets),
            suppressed,
            int(units.persons[left].sum()),
        )
