"""The best scheme of all, proved to be so.

Schemes are judged from coarse to fine, layer by layer: those of one height. Two things are left out: what must suppress
too much, because a coarser scheme must already, where the models promise that; and what cannot be cheaper than the best
so far. A scheme costs at least what its levels cost plus, for each column, what suppression adds to it in a coarser
scheme: records that are suppressed there are suppressed in a finer one, too, and cost no less. So the way down ends
long before the large tables of the fine schemes are reached.

In a layer, what may cost least is judged first: it makes the rest look dear. Where most of that fails, schemes right
above are judged instead, though they are too dear themselves: one that fails rules out all below it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import wait
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import Cancelled
from shoal.kernels.layers import Layer
from shoal.kernels.threads import pool
from shoal.models.model import Monotone
from shoal.progress import Hook, Progress
from shoal.recoding.nodes import Floats
from shoal.search.evaluation import Evaluator
from shoal.search.objective import Counted, Ints, Objective
from shoal.search.space import Space
from shoal.words import short

CLOSE = 1e-12  # prices that differ by less, relative to their size, are the same
_TOGETHER = 32  # schemes that are looked at together or, if many are left,
_PART = 8  # such a part of them,
_MOST = 4096  # but no more than these
_SHARED = 16  # schemes from which on it pays to use a second thread

Mask = NDArray[np.bool_]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Best:
    """The best scheme: its number and its price; ``suppressed``: how many persons it suppresses."""

    scheme: int
    price: float
    suppressed: int
    classes: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out. ``best``: None if no scheme will do. ``evaluated``: how many schemes had to be looked at.

    ``bound``: no scheme costs less; None if the best one is proved to be the best.
    """

    best: Best | None
    evaluated: int
    schemes: int
    bound: float | None = None

    @property
    def gap(self) -> float:
        """The share of its price that a better scheme could save at most: 0 if it is the best, 1 if none is proved."""
        if self.bound is None or self.best is None or self.best.price - self.bound <= CLOSE * abs(self.best.price):
            return 0.0
        return (self.best.price - self.bound) / self.best.price if np.isfinite(self.bound) else 1.0


@dataclass(eq=False)
class Contest:
    """Finds the cheapest of schemes that come in any order; those that cost the same are compared further.

    Fewer suppressed persons are better, then more classes, then lower levels in total, then in the first columns.
    """

    space: Space
    price: float = np.inf
    _held: tuple[Counted, Floats] | None = None

    @property
    def ceiling(self) -> float:
        """A scheme that costs more cannot be the best."""
        return self.price + CLOSE * abs(self.price) if np.isfinite(self.price) else np.inf

    def enter(self, counted: Counted, prices: Floats) -> None:
        """Let schemes take part."""
        if not len(prices) or prices.min() > self.ceiling:
            return
        self.price = min(self.price, float(prices.min()))
        mine = np.flatnonzero(prices <= self.ceiling)
        entered, paid = counted.some(mine), prices[mine]
        if self._held is not None:
            before, paid_before = self._held
            still = np.flatnonzero(paid_before <= self.ceiling)
            entered, paid = Counted.joined([before.some(still), entered]), np.concatenate([paid_before[still], paid])
        self._held = entered, paid

    def best(self) -> Best | None:
        """Return the winner."""
        if self._held is None:
            return None
        entered, paid = self._held
        columns = [self.space.names.index(name) for name in self.space.quasi]
        keys = [*entered.levels[:, columns].T[::-1], entered.levels.sum(axis=1), -entered.classes, entered.suppressed]
        first = int(np.lexsort(keys)[0])
        numbers = (entered.schemes, entered.suppressed, entered.classes)
        scheme, suppressed, classes = (int(part[first]) for part in numbers)
        return Best(scheme, float(paid[first]), suppressed, classes)


@dataclass(eq=False)
class Searching(ABC):
    """One search. ``limit``: how many persons may be suppressed. ``monotone``: what all models promise."""

    space: Space
    evaluators: Sequence[Evaluator]
    objective: Objective
    limit: int
    monotone: Monotone
    progress: Hook

    def outcome(self) -> Outcome:
        """Search; whoever stops it is told what was found until then."""
        contest = Contest(self.space)
        try:
            return self._found(contest)
        except KeyboardInterrupt:
            raise Cancelled("stopped", "Stopped. {state}", state=_told(self.space, contest.best())) from None

    @abstractmethod
    def _found(self, contest: Contest) -> Outcome:
        """Let schemes take part in a contest until it is decided."""

    def _entered(self, contest: Contest, schemes: Ints) -> tuple[Counted, Places, Floats | None]:
        """Look at schemes, which ascend, and let those that suppress few enough take part.

        Return also which ones these are and, if it only grows in finer schemes, what suppression adds to their columns.
        """
        counted = evaluate(self.evaluators, schemes)
        fits = np.flatnonzero(counted.suppressed <= self.limit)
        fitting = counted.some(fits)
        priced = self.objective.priced(fitting)
        contest.enter(fitting, priced.prices)
        return counted, fits, priced.extra if self.monotone.suppression else None


@dataclass(frozen=True, eq=False)
class LayerStage:
    """A layer, and the one ``above`` that it was made of; ``finer``: as ``Layer.below`` tells it.

    ``looked_at`` and ``above_looked_at``: at which schemes of both somebody has looked.
    """

    layer: Layer
    looked_at: Mask
    above: Layer
    above_looked_at: Mask
    finer: Ints

    @classmethod
    def first(cls, shape: Sequence[int]) -> "LayerStage":
        """Begin with the coarsest scheme; nothing is above."""
        layer, none = Layer.top(shape), np.zeros(0, bool)
        return cls(layer, np.zeros(1, bool), layer.only(np.zeros(1, bool)), none, np.zeros((0, len(shape)), np.int64))

    def next(self, kept: Mask, shape: Sequence[int]) -> "LayerStage":
        """Leave some schemes out, and go on to those below."""
        above = self.layer.only(kept)
        layer, finer = above.below(shape)
        return LayerStage(layer, np.zeros(len(layer), bool), above, self.looked_at[kept], finer)

    def over(self, wanted: Places) -> Places:
        """Return schemes above, not looked at, that have several wanted ones right below them: some with the most."""
        is_wanted = np.zeros(len(self.layer) + 1, bool)  # the last one: none
        is_wanted[wanted] = True
        below = is_wanted[self.finer].sum(axis=1) * ~self.above_looked_at
        chosen = np.flatnonzero(below > 1)
        return np.sort(_some(chosen[np.argsort(-below[chosen], kind="stable")]))

    def inherit(self, places: Places) -> None:
        """Note for all right below some schemes above what is now known about these."""
        both = [(getattr(self.layer, part), getattr(self.above, part)) for part in ("at_least", "extra")]
        for column in self.finer[places].T:  # in one column, no two have the same one below them
            above, below = places[column >= 0], column[column >= 0]
            for mine, theirs in both:
                mine[below] = np.maximum(mine[below], theirs[above])


@dataclass(eq=False)
class DescendingSearch(Searching):
    """Goes from coarse to fine. ``evaluated``: how many schemes were looked at."""

    evaluated: int = 0

    def _found(self, contest: Contest) -> Outcome:
        stage, seen = LayerStage.first(self.space.shape), 0
        while len(stage.layer):
            self.progress(Progress(so_far(contest.price), seen, len(self.space)))
            self._look(stage, contest)
            seen += len(stage.layer)
            stage = stage.next(self._promising(stage.layer, contest.ceiling), self.space.shape)
        return Outcome(contest.best(), self.evaluated, len(self.space))

    def _look(self, stage: LayerStage, contest: Contest) -> None:
        """Look at the schemes of a layer that may be the best, what may cost least first.

        Where most of them fail, some above may, which were too dear to be looked at; so these come first.
        """
        wanted, floors = self._by_floor(stage, np.arange(len(stage.layer)))
        mostly_fails = False
        while True:
            open_ = (
                ~stage.looked_at[wanted] & (stage.layer.at_least[wanted] <= self.limit) & (floors <= contest.ceiling)
            )
            wanted, floors = wanted[open_], floors[open_]
            if not len(wanted):
                return
            over = stage.over(wanted) if mostly_fails else wanted[:0]
            if len(over):
                mostly_fails = bool(self._judge(stage.above, over, stage.above_looked_at, contest).any())
                stage.inherit(over)
                wanted, floors = self._by_floor(stage, wanted)
            else:
                failing = self._judge(stage.layer, np.sort(_some(wanted)), stage.looked_at, contest)
                mostly_fails = 2 * int(np.count_nonzero(failing)) > len(failing)

    def _by_floor(self, stage: LayerStage, places: Places) -> tuple[Places, Floats]:
        """Return schemes of a layer that suppress few enough, what may cost least first, and what that is."""
        layer = stage.layer
        places = places[layer.at_least[places] <= self.limit]
        if not self.objective.steady:  # what is suppressed may cost less than what is not: nothing bounds the price
            return places, np.full(len(places), -np.inf)
        floors = self.objective.floors(layer.levels[places], layer.extra[places])
        order = np.argsort(floors, kind="stable")
        return places[order], floors[order]

    def _judge(self, layer: Layer, places: Places, looked_at: Mask, contest: Contest) -> Mask:
        """Look at schemes, note what that means for all below, and tell which ones fail with all below."""
        counted, fits, extra = self._entered(contest, layer.schemes[places])
        self.evaluated += len(places)
        looked_at[places] = True
        layer.at_least[places] = must_suppress(counted, self.limit, self.monotone)
        if extra is not None:
            layer.extra[places[fits]] = extra
        return layer.at_least[places] > self.limit

    def _promising(self, layer: Layer, ceiling: float) -> Mask:
        """Tell which schemes may have a better one below: it suppresses few enough, and could be cheap enough."""
        promising: Mask = layer.at_least <= self.limit
        if self.objective.steady and layer.extra.any():
            promising &= self.objective.floors_below(layer.levels, layer.extra) <= ceiling
        return promising


def _some(places: Places) -> Places:
    """Return the first of some schemes: as many as are looked at together."""
    return places[: min(max(_TOGETHER, len(places) // _PART), _MOST)]


def must_suppress(counted: Counted, limit: int, monotone: Monotone) -> Ints:
    """Return how many persons every scheme that is finer than some must suppress at least."""
    if monotone.suppression:
        return counted.suppressed
    if limit == 0 and monotone.generalisation:
        return np.maximum(counted.small, counted.suppressed > 0)
    return counted.small


def _told(space: Space, best: Best | None) -> str:
    """Say what was found until now; nothing of the data."""
    if best is None:
        return "No scheme that meets the requirements had been found."
    levels = ", ".join(f"{name} {level}" for name, level in space.scheme(best.scheme).items())
    return f"Best scheme so far: cost {short(best.price)}, {best.suppressed:,} individuals suppressed, levels {levels}."


def so_far(price: float) -> str:
    """Say what the best scheme costs."""
    return f"searching, best cost so far {short(price)}" if np.isfinite(price) else "searching"


def evaluate(evaluators: Sequence[Evaluator], schemes: Ints) -> Counted:
    """Count schemes, which ascend; many of them in several threads."""
    threads = min(len(evaluators), 2 * len(schemes) // _SHARED)
    if threads <= 1:
        return evaluators[0].counted(schemes)
    parts = np.array_split(schemes, threads)
    futures = [pool().submit(evaluator.counted, part) for evaluator, part in zip(evaluators, parts, strict=False)]
    wait(futures)
    return Counted.joined([future.result() for future in futures])
