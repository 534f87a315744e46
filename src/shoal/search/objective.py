"""The objective of a search: what a scheme costs by a measure of quality, for many schemes at once."""

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
    """What is known about some schemes: ``levels[i, j]`` is the level of column j in scheme i.

    ``small``: persons in classes that are too small, whatever else they are like. ``suppressed`` and ``lost``: persons
    and records in all classes that fail. ``classes`` and ``squares``: of what is kept.
    ``nodes[i, node]``: how many suppressed records have each node, all columns side by side. ``prices``: what schemes
    cost, if that was measured already. Of schemes that suppress too many, only how many these are may be known.
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
        """Return some schemes only."""
        parts: dict[str, Any] = {name: None if part is None else part[places] for name, part in self._parts().items()}
        return Counted(**parts)

    def _parts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Counted.__dataclass_fields__}

    @classmethod
    def joined(cls, parts: Sequence["Counted"]) -> "Counted":
        """Put counts of different schemes together."""
        if len(parts) == 1:
            return parts[0]
        joined_parts: dict[str, Any] = {}
        for name, first in parts[0]._parts().items():  # noqa: SLF001 - its own
            joined_parts[name] = None if first is None else np.concatenate([getattr(part, name) for part in parts])
        return cls(**joined_parts)


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """What schemes cost. ``extra[i, j]``: how much of it column j costs more because records are suppressed."""

    prices: Floats
    extra: Floats | None


@dataclass(frozen=True, eq=False)
class LevelObjective:
    """A measure of columns. What suppression adds to a column only grows on the way down to finer schemes."""

    quality: LevelQuality
    weights: Floats
    rungs: Sequence[Rungs]

    @cached_property
    def _pricings(self) -> list[Pricing]:
        return [self.quality.pricing(rungs) for rungs in self.rungs]

    @cached_property
    def base(self) -> Floats:
        """What each column costs on each of its levels if nothing is suppressed; infinite where it has no more."""
        base = np.full((len(self.rungs), max(len(rungs.records) for rungs in self.rungs)), np.inf)
        for costs, pricing, rungs in zip(base, self._pricings, self.rungs, strict=True):
            levels = np.arange(len(rungs.records))
            costs[: len(levels)] = pricing(levels, np.zeros(rungs.records.shape, np.int64))
        return base

    @cached_property
    def steady(self) -> bool:
        """Whether bounds can be had."""
        return all(self.quality.steady(rungs) for rungs in self.rungs)

    @cached_property
    def _cheapest_below(self) -> Floats:
        """What each column costs at least on a level or a finer one: a label may say more than the one above it."""
        return np.minimum.accumulate(self.base, axis=1)

    @cached_property
    def _cheapest_above(self) -> Floats:
        return np.minimum.accumulate(self.base[:, ::-1], axis=1)[:, ::-1]

    def sums(self) -> Floats:
        """Return what the columns of every scheme add up to if nothing is suppressed: the price only grows with it."""
        sums = np.zeros(1)
        for base, rungs, weight in zip(self.base[::-1], reversed(self.rungs), self.weights[::-1], strict=True):
            sums = np.add.outer(self.quality.summands(base[: len(rungs.records)]) * weight, sums).ravel()
        return sums

    def whole(self, sums: Floats) -> Floats:
        """Return what schemes cost whose columns add up to so much."""
        return self.quality.whole(sums, float(self.weights.sum()))

    def floors(self, levels: Ints, extra: Floats | None = None) -> Floats:
        """Return what schemes cost at least, if suppression adds at least so much to each column."""
        return self._floors(self.base, levels, extra)

    def floors_below(self, levels: Ints, extra: Floats | None = None) -> Floats:
        """Return the same for each scheme and all that are finer."""
        return self._floors(self._cheapest_below, levels, extra)

    def floors_above(self, levels: Ints, extra: Floats | None = None) -> Floats:
        """Return the same for each scheme and all that are coarser."""
        return self._floors(self._cheapest_above, levels, extra)

    def _floors(self, costs: Floats, levels: Ints, extra: Floats | None) -> Floats:
        prices = _chosen(costs, levels)
        return self.quality.combined(prices if extra is None else prices + extra, self.weights)

    def priced(self, counted: Counted) -> Priced:
        """Return what schemes cost."""
        prices, begin = np.empty(counted.levels.shape), 0
        for column, (pricing, rungs) in enumerate(zip(self._pricings, self.rungs, strict=True)):
            end = begin + rungs.records.shape[1]
            prices[:, column] = pricing(counted.levels[:, column], counted.nodes[:, begin:end])
            begin = end
        return Priced(
            self.quality.combined(prices, self.weights), np.maximum(prices - _chosen(self.base, counted.levels), 0)
        )


def _chosen(costs: Floats, levels: Ints) -> Floats:
    """Return what the columns of schemes cost."""
    return costs[np.arange(len(costs)), levels]


class Boundless:
    """An objective that gives no bounds."""

    steady: ClassVar[bool] = False

    def floors(self, levels: Ints, extra: Floats | None = None) -> Floats:  # noqa: ARG002 - as the others
        """Return that nothing is known."""
        return np.full(len(levels), -np.inf)

    floors_below = floors_above = floors


@dataclass(frozen=True, eq=False)
class FigureObjective(Boundless):
    """A measure of classes."""

    quality: FigureQuality
    records: int
    sizes: Ints

    def priced(self, counted: Counted) -> Priced:
        """Return what schemes cost."""
        kept = (self.records - counted.lost).astype(np.float64)
        figures = Figures(self.records, self.sizes, kept, counted.classes.astype(float), counted.squares.astype(float))
        return Priced(self.quality.of_figures(figures), None)


@dataclass(frozen=True, eq=False)
class MeasuredObjective(Boundless):
    """Prices that were measured already, scheme by scheme."""

    def priced(self, counted: Counted) -> Priced:
        """Return what was measured."""
        if counted.prices is None:
            raise ValueError("prices were not measured")
        return Priced(counted.prices, None)


Objective = LevelObjective | FigureObjective | MeasuredObjective
