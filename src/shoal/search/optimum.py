"""The best scheme of all, proved to be so.

Schemes are judged from coarse to fine, all of one height together. Two things are never looked at: what must suppress
too much, because a coarser scheme must already, where the models promise that; and what cannot be cheaper than the best
so far. A scheme costs at least what its levels cost plus, for each column, what suppression adds to it in a coarser
scheme: records that are suppressed there are suppressed in a finer one, too, and cost no less. So the way down ends
long before the large tables of the fine schemes are reached.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from shoal.errors import Cancelled
from shoal.kernels.threads import pool
from shoal.models.model import Monotone
from shoal.progress import Hook, Progress
from shoal.recoding.nodes import Floats
from shoal.search.evaluation import Evaluator
from shoal.search.objective import Counted, Ints, Objective
from shoal.search.space import Space

CLOSE = 1e-12  # prices that differ by less, relative to their size, are the same
_SHARED = 64  # schemes from which on it pays to use a second thread


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
        if self.bound is None or self.best is None or self.best.price <= self.bound:
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
        if not len(prices):
            return
        self.price = min(self.price, float(prices.min()))
        mine = np.flatnonzero(prices <= self.ceiling)
        held, paid = counted.some(mine), prices[mine]
        if self._held is not None:
            before, paid_before = self._held
            still = np.flatnonzero(paid_before <= self.ceiling)
            held, paid = Counted.joined([before.some(still), held]), np.concatenate([paid_before[still], paid])
        self._held = held, paid

    def best(self) -> Best | None:
        """Return the winner."""
        if self._held is None:
            return None
        held, paid = self._held
        columns = [self.space.names.index(name) for name in self.space.quasi]
        keys = [*held.levels[:, columns].T[::-1], held.levels.sum(axis=1), -held.classes, held.suppressed]
        first = int(np.lexsort(keys)[0])
        numbers = (held.schemes, held.suppressed, held.classes)
        scheme, suppressed, classes = (int(part[first]) for part in numbers)
        return Best(scheme, float(paid[first]), suppressed, classes)


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Schemes of one height that may still lead to something, ascending, and what is known about them and all below.

    ``at_least``: how many persons must be suppressed. ``extra[i, j]``: what suppression adds to column j.
    """

    schemes: Ints
    levels: Ints
    at_least: Ints
    extra: Floats

    @classmethod
    def top(cls, shape: Sequence[int]) -> "Layer":
        """Begin with the coarsest scheme."""
        levels = np.array([shape]) - 1
        return cls(np.array([prod(shape) - 1]), levels, np.zeros(1, np.int64), np.zeros(levels.shape))

    def only(self, open_: NDArray[np.bool_]) -> "Layer":
        """Leave schemes out, and with them all below."""
        if open_.all():
            return self
        return Layer(self.schemes[open_], self.levels[open_], self.at_least[open_], self.extra[open_])

    def below(self, shape: Sequence[int]) -> "Layer":
        """Return the schemes that are one level finer in one column, if no scheme right above was left out."""
        strides = np.cumprod([1, *shape[:0:-1]])[::-1]
        above, column = np.nonzero(self.levels)
        made = self.schemes[above] - strides[column]
        order = np.argsort(made, kind="stable")
        starts = np.flatnonzero(np.diff(made[order], prepend=-1))
        if not len(starts):
            return self.only(np.zeros(len(self.schemes), bool))
        above, column = above[order], column[order]
        levels = self.levels[above[starts]]
        levels[np.arange(len(starts)), column[starts]] -= 1
        whole = np.diff(starts, append=len(order)) == (levels < np.array(shape) - 1).sum(axis=1)
        return Layer(
            made[order][starts],
            levels,
            np.maximum.reduceat(self.at_least[above], starts),
            np.maximum.reduceat(self.extra[above], starts, axis=0),
        ).only(whole)


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
            raise Cancelled(f"Stopped. {_told(self.space, contest.best())}") from None

    @abstractmethod
    def _found(self, contest: Contest) -> Outcome:
        """Let schemes take part in a contest until it is decided."""


class Search(Searching):
    """Goes from coarse to fine."""

    def _found(self, contest: Contest) -> Outcome:
        layer, seen, evaluated = Layer.top(self.space.shape), 0, 0
        while len(layer.schemes):
            wanted = np.flatnonzero(self._floors(layer) <= contest.ceiling)
            if len(wanted):
                self.progress(Progress(so_far(contest.price), seen, len(self.space)))
                self._judge(layer, wanted, contest)
            seen += len(layer.schemes)
            evaluated += len(wanted)
            layer = layer.only(self._promising(layer, contest.ceiling)).below(self.space.shape)
        return Outcome(contest.best(), evaluated, len(self.space))

    def _floors(self, layer: Layer) -> Floats:
        """Return what each scheme costs at least."""
        if not self.objective.steady:
            return np.full(len(layer.schemes), -np.inf)
        return self.objective.floors(layer.levels, layer.extra)

    def _judge(self, layer: Layer, wanted: NDArray[np.intp], contest: Contest) -> None:
        """Look at schemes, let those that suppress few enough take part, and note what that means for all below."""
        counted = evaluate(self.evaluators, layer.schemes[wanted])
        priced = self.objective.priced(counted)
        fits = np.flatnonzero(counted.suppressed <= self.limit)
        contest.enter(counted.some(fits), priced.prices[fits])
        layer.at_least[wanted] = must_suppress(counted, self.limit, self.monotone)
        if priced.extra is not None and self.monotone.suppression:
            layer.extra[wanted] = priced.extra

    def _promising(self, layer: Layer, ceiling: float) -> NDArray[np.bool_]:
        """Tell which schemes may have a better one below: it suppresses few enough, and could be cheap enough."""
        promising: NDArray[np.bool_] = layer.at_least <= self.limit
        if self.objective.steady:
            promising &= self.objective.floors(np.zeros_like(layer.levels), layer.extra) <= ceiling
        return promising


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
        return "No scheme that will do had been found yet."
    levels = ", ".join(f"{name} {level}" for name, level in space.scheme(best.scheme).items())
    return f"The best scheme so far costs {best.price:.6g} and suppresses {best.suppressed:,}: {levels}."


def so_far(price: float) -> str:
    """Say what the best scheme costs."""
    return f"searching, best so far {price:.6g}" if np.isfinite(price) else "searching"


def evaluate(evaluators: Sequence[Evaluator], schemes: Ints) -> Counted:
    """Count schemes, which ascend; many of them in several threads."""
    if len(evaluators) == 1 or len(schemes) < _SHARED:
        return evaluators[0].counted(schemes)
    parts = np.array_split(schemes, len(evaluators))
    futures = [pool().submit(one.counted, part) for one, part in zip(evaluators, parts, strict=True)]
    wait(futures)
    return Counted.joined([future.result() for future in futures])
