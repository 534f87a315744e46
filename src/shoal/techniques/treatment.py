"""A treatment: what becomes of the rows of a table, change by change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from shoal.engines.protocol import DistinctRows
from shoal.recoding.nodes import Domain, Fate, Ints, Nodes
from shoal.recoding.recoding import Recoding
from shoal.search.space import Space
from shoal.techniques.change import Added, Change, Drawn, Generalised, Moved, Replaced, RowMask, Split, Suppressed
from shoal.techniques.units import Units

C = TypeVar("C", bound=Change)


@dataclass(frozen=True, slots=True, eq=False)
class Treatment:
    """``changes`` of the records that have each of the distinct ``rows``; ``facts``: how they were found."""

    rows: DistinctRows
    changes: tuple[Change, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_scheme(  # noqa: PLR0913, PLR0917 - a scheme, and what is known of it
        cls,
        space: Space,
        rows: DistinctRows,
        scheme: Mapping[str, int],
        suppressed: RowMask,
        persons: int,
        facts: Mapping[str, Any],
    ) -> "Treatment":
        """Put every row on the levels of a scheme."""
        changes: list[Change] = [Suppressed(suppressed, persons)]
        for name, ladder in zip(space.names, space.ladders, strict=True):
            domain, codes = Domain.of(space.table[name], ladder.hierarchy), rows.codes[space.quasi.index(name)]
            nodes, of_code = Nodes.on_level(domain, ladder.hierarchy, scheme[name])
            shown = np.where(suppressed, len(nodes) - 1, of_code[codes])
            changes.append(Generalised(nodes, shown, np.full(len(rows), scheme[name]), scheme[name]))
        return cls(rows, tuple(changes), facts)

    @classmethod
    def of_units(cls, units: Units, sets: Sequence[tuple[Nodes, Ints, Ints | None]], left: RowMask) -> "Treatment":
        """Join units with the same released row. Blank units are suppressed, unless all units are blank."""
        blank = np.all([nodes.fates[shown] == Fate.SUPPRESSED for nodes, shown, _ in sets], axis=0)
        left = left if blank[~left].all() else left | blank
        suppressed = np.ones(len(units.rows), bool)
        suppressed[units.of_row] = left

        def by_row(numbers: Ints, otherwise: int) -> Ints:
            values = np.full(len(suppressed), otherwise, np.int64)
            values[units.of_row] = numbers
            return np.where(suppressed, otherwise, values)

        generalised = [
            Generalised(nodes, by_row(shown, len(nodes) - 1), None if levels is None else by_row(levels, 0))
            for nodes, shown, levels in sets
        ]
        return cls(units.rows, (Suppressed(suppressed, int(units.persons[left].sum())), *generalised))

    @property
    def generalised(self) -> tuple[Generalised, ...]:
        """The quasi-identifiers that show sets of values."""
        return self._all(Generalised)

    @property
    def replaced(self) -> tuple[Replaced, ...]:
        """The quasi-identifiers that show values that stand for others."""
        return self._all(Replaced)

    @property
    def drawn(self) -> tuple[Drawn, ...]:
        """The columns whose cells are drawn."""
        return self._all(Drawn)

    @property
    def suppressed(self) -> RowMask:
        """Which rows are left out."""
        changes = self._all(Suppressed)
        return changes[0].rows if changes else np.zeros(len(self.rows), bool)

    @property
    def persons(self) -> int:
        """How many persons are left out."""
        return sum(change.persons for change in self._all(Suppressed))

    @property
    def moved(self) -> RowMask | None:
        """Which rows show what others are; None: none does."""
        changes = self._all(Moved)
        return changes[0].rows if changes else None

    @property
    def added(self) -> Ints:
        """The rows that invented records look like, one for each."""
        changes = self._all(Added)
        return changes[0].rows if changes else np.zeros(0, np.int64)

    @property
    def split(self) -> Split | None:
        """The columns that go out in a table of their own, if any do."""
        changes = self._all(Split)
        return changes[0] if changes else None

    @property
    def scheme(self) -> dict[str, int]:
        """The level of each column, if all rows are on the same, and nothing else is changed."""
        levels = {change.name: change.level for change in self.generalised}
        others = any(not isinstance(change, Generalised | Suppressed | Split) for change in self.changes)
        shared = {name: level for name in self.rows.columns if (level := levels.get(name)) is not None}
        return {} if others else shared

    @property
    def is_generalised(self) -> bool:
        """Whether a cell that goes out shows a set of values, and not one."""
        return any(
            bool((change.shown[~self.suppressed] >= change.nodes.domain.codes).any())
            for change in self.generalised
            if change.name not in self.overwritten
        )

    @property
    def overwritten(self) -> frozenset[str]:
        """The columns whose cells are replaced or drawn."""
        return frozenset({change.name for change in self.replaced} | {change.name for change in self.drawn})

    def changed(self, *changes: Change) -> "Treatment":
        """Return the treatment with some changes; those of the same kind, of the same column, are gone."""
        told = {(type(change), getattr(change, "name", None)) for change in changes}
        kept = [change for change in self.changes if (type(change), getattr(change, "name", None)) not in told]
        return replace(self, changes=(*kept, *changes))

    def with_facts(self, before: Mapping[str, Any], **outliers: float) -> "Treatment":
        """Return the same, with numbers about its outliers that must be published."""
        return replace(self, facts={**before, "outliers": outliers})

    def recoding(self) -> Recoding:
        """Return what it makes of the table."""
        sets = {change.name: (change.nodes, change.shown) for change in self.generalised}
        return Recoding.of_nodes(self.rows, sets, self.suppressed, self.moved)

    def on_levels(self, space: Space) -> dict[str, list[int]]:
        """Return how many records are on each level of the columns that have levels and show nothing else."""
        by_column = {
            change.name: None if change.name in self.overwritten else change.levels for change in self.generalised
        }
        kept = np.flatnonzero(~self.suppressed)
        counts = self.rows.counts[kept]
        return {
            name: np.bincount(levels[kept], counts).astype(int).tolist()
            for name in space.quasi
            if (levels := by_column[name]) is not None
        }

    def heights(self, space: Space) -> dict[str, int | None]:
        """Return the last level of each column's hierarchy."""
        heights = {change.name: change.nodes.domain.height for change in self.generalised}
        return {name: heights[name] for name in space.quasi}

    def _all(self, kind: type[C]) -> tuple[C, ...]:
        return tuple(change for change in self.changes if isinstance(change, kind))
