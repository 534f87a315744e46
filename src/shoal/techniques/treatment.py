"""Treatments: the released form of every row of a table, as a list of changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from shoal.engines.protocol import DistinctRows
from shoal.recoding.nodes import Domain, Fate, Ints, Nodes
from shoal.recoding.recoding import Recoding
from shoal.search.space import Space
from shoal.techniques.change import Added, Change, Drawn, Generalised, Moved, Replaced, RowMask, Suppressed
from shoal.techniques.units import Units

C = TypeVar("C", bound=Change)


@dataclass(frozen=True, slots=True, eq=False)
class Treatment:
    """``changes`` to the records of each of the distinct ``rows``; ``facts``: figures on how they were found."""

    rows: DistinctRows
    changes: tuple[Change, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_scheme(  # noqa: PLR0913, PLR0917 - a scheme and its results
        cls,
        space: Space,
        rows: DistinctRows,
        scheme: Mapping[str, int],
        suppressed: RowMask,
        persons: int,
        facts: Mapping[str, Any],
    ) -> "Treatment":
        """Generalise every row to the levels of a scheme."""
        changes: list[Change] = [Suppressed(suppressed, persons)]
        for name, ladder in zip(space.names, space.ladders, strict=True):
            domain, codes = Domain.of(space.table[name], ladder.hierarchy), rows.codes[space.quasi.index(name)]
            nodes, of_code = Nodes.on_level(domain, ladder.hierarchy, scheme[name])
            shown = np.where(suppressed, len(nodes) - 1, of_code[codes])
            changes.append(Generalised(nodes, shown, np.full(len(rows), scheme[name]), scheme[name]))
        return cls(rows, tuple(changes), facts)

    @classmethod
    def of_units(cls, units: Units, sets: Sequence[tuple[Nodes, Ints, Ints | None]], left: RowMask) -> "Treatment":
        """Combine units with the same row. Fully suppressed units count as suppressed, unless all units are."""
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
        return cls(units.rows, (Suppressed(suppressed, units.count(left)), *generalised))

    @property
    def generalised(self) -> tuple[Generalised, ...]:
        """The generalised quasi-identifiers."""
        return self._all(Generalised)

    @property
    def replaced(self) -> tuple[Replaced, ...]:
        """The quasi-identifiers that are replaced by representative values."""
        return self._all(Replaced)

    @property
    def drawn(self) -> tuple[Drawn, ...]:
        """The columns whose cells are drawn at random."""
        return self._all(Drawn)

    @property
    def suppressed(self) -> RowMask:
        """A mask of the suppressed rows."""
        changes = self._all(Suppressed)
        return changes[0].rows if changes else np.zeros(len(self.rows), bool)

    @property
    def persons(self) -> int:
        """The number of suppressed persons."""
        return sum(change.persons for change in self._all(Suppressed))

    @property
    def moved(self) -> RowMask | None:
        """A mask of the relocated rows; None if relocation was not applied."""
        changes = self._all(Moved)
        return changes[0].rows if changes else None

    @property
    def added(self) -> Ints:
        """The row that each counterfeit record is modelled on."""
        changes = self._all(Added)
        return changes[0].rows if changes else np.zeros(0, np.int64)

    @property
    def scheme(self) -> dict[str, int]:
        """The level of each column with one level for all rows; empty if records are changed in any other way."""
        levels = {change.name: change.level for change in self.generalised}
        others = any(not isinstance(change, Generalised | Suppressed) for change in self.changes)
        shared = {name: level for name in self.rows.columns if (level := levels.get(name)) is not None}
        return {} if others else shared

    @property
    def is_generalised(self) -> bool:
        """Whether any released cell shows a set of values instead of a single value."""
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
        """Return the treatment with additional changes, which replace those of the same kind and column."""
        told = {(type(change), getattr(change, "name", None)) for change in changes}
        kept = [change for change in self.changes if (type(change), getattr(change, "name", None)) not in told]
        return replace(self, changes=(*kept, *changes))

    def with_figures(self, **figures: float) -> "Treatment":
        """Return the treatment with figures on how it was found."""
        return replace(self, facts={**self.facts, **figures})

    def with_outliers(self, before: Mapping[str, Any], **outliers: float) -> "Treatment":
        """Return the treatment with the figures on how it was found (``before``), and those on its outliers."""
        return replace(self, facts={**before, "outliers": outliers})

    def recoding(self) -> Recoding:
        """Return the recoding of the table that results from the treatment."""
        sets = {change.name: (change.nodes, change.shown) for change in self.generalised}
        return Recoding.of_nodes(self.rows, sets, self.suppressed, self.moved)

    def on_levels(self, space: Space) -> dict[str, list[int]]:
        """Return the number of released records per level, for columns that are neither replaced nor drawn."""
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
        """Return the highest level of each column's hierarchy."""
        heights = {change.name: change.nodes.domain.height for change in self.generalised}
        return {name: heights[name] for name in space.quasi}

    def _all(self, kind: type[C]) -> tuple[C, ...]:
        return tuple(change for change in self.changes if isinstance(change, kind))
