"""The objective of a search: the cost of many schemes at once by a quality measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.qualities.quality import FigureQuality, Figures, LevelQuality, Pricing
from shoal.recoding.nodes import Floats
from shoal.recoding.rungs import Rungs

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Counts of evaluated schemes: ``levels[i, j]`` is the level of column j in scheme i.

    ``small``: persons in classes below the minimum size. ``suppressed`` and ``lost``: persons and records in all
    classes that fail. ``classes`` and ``squares``: the number of remaining classes, and the sum of their squared sizes
    in records. ``nodes[i, node]``: the number of suppressed records of each node, with all columns concatenated.
    ``prices``: the costs of the schemes, if already measured. For schemes that exceed the suppression limit, only
    ``suppressed`` is guaranteed to be known.
    """

    schemes: Ints
    levels: Ints
    small: Ints
    suppressed: Ints
    lost: Ints
    classes: Ints
    squares: NDArray[np.uint64]
    nodes: NDArray[np.uint32]
    prices: Floats | None = None

    def some(self, places: NDArray[np.intp]) -> "Counted":
        """Return the schemes at the given places only."""
        parts: dict[str, Any] = {name: None if part is None else part[places] for name, part in self._parts().items()}
        return Counted(**parts)

    def _parts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Counted.__dataclass_fields__}

    @classmethod
    def joined(cls, parts: Sequence["Counted"]) -> "Counted":
        """Concatenate the counts of different schemes."""
        if len(parts) == 1:
            return parts[0]
        joined_parts: dict[str, Any] = {}
        for name, first in parts[0]._parts().items():  # noqa: SLF001 - its own
            joined_parts[name] = None if first is None else np.concatenate([getattr(part, name) for part in parts])
        return cls(**joined_parts)


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """Costs of schemes. ``extra[i, j]``: the cost that suppression adds to column j in scheme i."""

    prices: Floats
    extra: Floats | None


@dataclass(frozen=True, eq=False)
class LevelObjective:
    """Cost by a measure of columns.

    The cost that suppression adds to a column only grows towards more specific schemes.
    """

    quality: LevelQuality
    weights: Floats
    rungs: Sequence[Rungs]

    @cached_property
    def _pricings(self) -> list[Pricing]:
        return [self.quality.pricing(rungs) for rungs in self.rungs]

    @cached_property
    def base(self) -> Floats:
        """The cost of each column on each of its levels without suppression; infinite beyond its highest level."""
        base = np.full((len(self.rungs), max(len(rungs.records) for rungs in self.rungs)), np.inf)
        for costs, pricing, rungs in zip(base, self._pricings, self.rungs, strict=True):
            levels = np.arange(len(rungs.records))
            costs[: len(levels)] = pricing(levels, np.zeros(rungs.records.shape, np.int64))
        return base

    @cached_property
    def steady(self) -> bool:
        """Whether lower bounds are valid."""
        return all(self.quality.steady(rungs) for rungs in self.rungs)

    @cached_property
    def _cheapest_below(self) -> Floats:
        """The lowest cost of each column on a level or any below; a label may be more informative than one below it."""
        return np.minimum.accumulate(self.base, axis=1)

    @cached_property
    def _cheapest_above(self) -> Floats:
        return np.minimum.accumulate(self.base[:, ::-1], axis=1)[:, ::-1]

    def sums(self) -> Floats:
        """Return the sum of column costs of every scheme without suppression; the total cost increases with it."""
        sums = np.zeros(1)
        for base, rungs, weight in zip(self.base[::-1], reversed(self.rungs), self.weights[::-1], strict=True):
            sums = np.add.outer(self.quality.summands(base[: len(rungs.records)]) * weight, sums).ravel()
        return sums

    def whole(self, sums: Floats) -> Floats:
        """Return the total cost for each sum of column costs."""
        return self.quality.whole(sums, float(self.weights.sum()))

    def floors(self, levels: Ints, extra: Floats | None = None) -> Floats:
        """Return a lower bound on the cost of each scheme.

        ``extra``: a lower bound on the cost that suppression adds to each column.
        """
        return self._floors(self.base, levels, extra)

    def floors_below(self, levels: Ints, extra: Floats | None = None) -> Floats:
        """Return a lower bound on the cost of each scheme and all schemes below it; ``extra``: as in ``floors``."""
        return self._floors(self._cheapest_below, levels, extra)

    def floors_above(self, levels: Ints, extra: Floats | None = None) -> Floats:
        """Return a lower bound on the cost of each scheme and all schemes above it; ``extra``: as in ``floors``."""
        return self._floors(self._cheapest_above, levels, extra)

    def _floors(self, costs: Floats, levels: Ints, extra: Floats | None) -> Floats:
        prices = _chosen(costs, levels)
        return self.quality.combined(prices if extra is None else prices + extra, self.weights)

    def priced(self, counted: Counted) -> Priced:
        """Return the costs of schemes."""
        prices, begin = np.empty(counted.levels.shape), 0
        for column, (pricing, rungs) in enumerate(zip(self._pricings, self.rungs, strict=True)):
            end = begin + rungs.records.shape[1]
            prices[:, column] = pricing(counted.levels[:, column], counted.nodes[:, begin:end])
            begin = end
        return Priced(
            self.quality.combined(prices, self.weights), np.maximum(prices - _chosen(self.base, counted.levels), 0)
        )


def _chosen(costs: Floats, levels: Ints) -> Floats:
    """Return the costs of the columns of schemes."""
    return costs[np.arange(len(costs)), levels]


class Boundless:
    """An objective without lower bounds."""

    steady: ClassVar[bool] = False

    def floors(self, levels: Ints, extra: Floats | None = None) -> Floats:  # noqa: ARG002 - as the others
        """Return minus infinity: no lower bound is known."""
        return np.full(len(levels), -np.inf)

    floors_below = floors_above = floors


@dataclass(frozen=True, eq=False)
class FigureObjective(Boundless):
    """Cost by a measure of classes."""

    quality: FigureQuality
    records: int
    sizes: Ints

    def priced(self, counted: Counted) -> Priced:
        """Return the costs of schemes."""
        kept = (self.records - counted.lost).astype(np.float64)
        figures = Figures(self.records, self.sizes, kept, counted.classes.astype(float), counted.squares.astype(float))
        return Priced(self.quality.of_figures(figures), None)


@dataclass(frozen=True, eq=False)
class MeasuredObjective(Boundless):
    """Costs that were already measured scheme by scheme."""

    def priced(self, counted: Counted) -> Priced:
        """Return the measured costs."""
        if counted.prices is None:
            raise ValueError("prices were not measured")
        return Priced(counted.prices, None)


Objective = LevelObjective | FigureObjective | MeasuredObjective
