"""Search for the optimal scheme, with a proof of optimality.

Schemes are evaluated from the most generalised to the most specific, one layer (schemes of equal height) at a time. Two
kinds of schemes are pruned: those that must exceed the suppression limit because a more generalised scheme already
does, where the models guarantee monotonicity; and those whose lower bound exceeds the incumbent. The lower bound of a
scheme is the cost of its levels plus, per column, the cost that suppression adds in a more generalised scheme: records
suppressed there are also suppressed in a more specific scheme, and cost no less. The search therefore ends long before
it reaches the large tables of the most specific schemes.

Within a layer, the schemes with the lowest bounds are evaluated first, because a better incumbent prunes more of the
others. If most of these fail, their direct generalisations are evaluated instead, although they cannot be optimal
themselves: one that fails rules out all schemes below it.
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

CLOSE = 1e-12  # relative tolerance within which costs are equal
_TOGETHER = 32  # minimum number of schemes evaluated together;
_PART = 8  # if many remain, one eighth of them,
_MOST = 4096  # but at most this number
_SHARED = 16  # schemes from which a second thread pays off

Mask = NDArray[np.bool_]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Best:
    """The best scheme: its number and cost. ``suppressed``: the number of persons it suppresses."""

    scheme: int
    price: float
    suppressed: int
    classes: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a search. ``best``: None if no scheme meets the requirements.

    ``evaluated``: the number of schemes that were evaluated. ``bound``: a lower bound on the cost of all schemes; None
    if ``best`` is proved to be optimal.
    """

    best: Best | None
    evaluated: int
    schemes: int
    bound: float | None = None

    @property
    def gap(self) -> float:
        """Relative optimality gap: the largest possible saving as a share of the cost of the best scheme.

        0 if the best scheme is optimal; 1 if no bound was proved.
        """
        if self.bound is None or self.best is None or self.best.price - self.bound <= CLOSE * abs(self.best.price):
            return 0.0
        return (self.best.price - self.bound) / self.best.price if np.isfinite(self.bound) else 1.0


@dataclass(eq=False)
class Contest:
    """Finds the scheme with the lowest cost among schemes entered in any order.

    Ties are broken by fewer suppressed persons, then more classes, then a lower sum of levels, then lower levels in the
    first columns.
    """

    space: Space
    price: float = np.inf
    _held: tuple[Counted, Floats] | None = None

    @property
    def ceiling(self) -> float:
        """The cost above which a scheme cannot be the best."""
        return self.price + CLOSE * abs(self.price) if np.isfinite(self.price) else np.inf

    def enter(self, counted: Counted, prices: Floats) -> None:
        """Enter schemes into the contest."""
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
        """Return the winner; None if no scheme was entered."""
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
    """Base class of searches.

    ``limit``: the number of persons that may be suppressed. ``monotone``: the guarantees that all models give.
    """

    space: Space
    evaluators: Sequence[Evaluator]
    objective: Objective
    limit: int
    monotone: Monotone
    progress: Hook

    def outcome(self) -> Outcome:
        """Run the search; if it is interrupted, the error reports the best scheme so far."""
        contest = Contest(self.space)
        try:
            return self._found(contest)
        except KeyboardInterrupt:
            raise Cancelled("stopped", "Stopped. {state}", state=_told(self.space, contest.best())) from None

    @abstractmethod
    def _found(self, contest: Contest) -> Outcome:
        """Enter schemes into a contest until it is decided."""

    def _entered(self, contest: Contest, schemes: Ints) -> tuple[Counted, Places, Floats | None]:
        """Evaluate schemes, given in ascending order, and enter those within the suppression limit into the contest.

        Return the counts, the places of the schemes within the limit and, if the models guarantee that suppression only
        grows towards more specific schemes, the cost that suppression adds to their columns.
        """
        counted = evaluate(self.evaluators, schemes)
        fits = np.flatnonzero(counted.suppressed <= self.limit)
        fitting = counted.some(fits)
        priced = self.objective.priced(fitting)
        contest.enter(fitting, priced.prices)
        return counted, fits, priced.extra if self.monotone.suppression else None


@dataclass(frozen=True, eq=False)
class LayerStage:
    """A layer, and the layer ``above`` from which it was derived; ``finer``: as returned by ``Layer.below``.

    ``looked_at`` and ``above_looked_at``: masks of the schemes of both layers that have been evaluated.
    """

    layer: Layer
    looked_at: Mask
    above: Layer
    above_looked_at: Mask
    finer: Ints

    @classmethod
    def first(cls, shape: Sequence[int]) -> "LayerStage":
        """Start with the most generalised scheme, above which there is no layer."""
        layer, none = Layer.top(shape), np.zeros(0, bool)
        return cls(layer, np.zeros(1, bool), layer.only(np.zeros(1, bool)), none, np.zeros((0, len(shape)), np.int64))

    def next(self, kept: Mask, shape: Sequence[int]) -> "LayerStage":
        """Discard the schemes that are not kept, and descend to the next layer."""
        above = self.layer.only(kept)
        layer, finer = above.below(shape)
        return LayerStage(layer, np.zeros(len(layer), bool), above, self.looked_at[kept], finer)

    def over(self, wanted: Places) -> Places:
        """Return schemes of the layer above that have not been evaluated and cover several wanted schemes.

        Those with the most wanted schemes directly below them are chosen, at most one batch.
        """
        is_wanted = np.zeros(len(self.layer) + 1, bool)  # the last place represents none
        is_wanted[wanted] = True
        below = is_wanted[self.finer].sum(axis=1) * ~self.above_looked_at
        chosen = np.flatnonzero(below > 1)
        return np.sort(_some(chosen[np.argsort(-below[chosen], kind="stable")]))

    def inherit(self, places: Places) -> None:
        """Pass the bounds of schemes of the layer above on to all schemes directly below them."""
        both = [(getattr(self.layer, part), getattr(self.above, part)) for part in ("at_least", "extra")]
        for column in self.finer[places].T:  # within a column, the schemes below are distinct
            above, below = places[column >= 0], column[column >= 0]
            for mine, theirs in both:
                mine[below] = np.maximum(mine[below], theirs[above])


@dataclass(eq=False)
class DescendingSearch(Searching):
    """Searches from the most generalised to the most specific schemes.

    ``evaluated``: the number of schemes evaluated so far.
    """

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
        """Evaluate the schemes of a layer that may be optimal, in ascending order of their lower bounds.

        If most of them fail, schemes of the layer above are evaluated first. Their own bounds exceeded the incumbent,
        but one that fails rules out all schemes below it.
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
        """Return the schemes that may stay within the suppression limit, sorted by lower bound, and the bounds."""
        layer = stage.layer
        places = places[layer.at_least[places] <= self.limit]
        if not self.objective.steady:  # suppression may reduce the cost: no bound is valid
            return places, np.full(len(places), -np.inf)
        floors = self.objective.floors(layer.levels[places], layer.extra[places])
        order = np.argsort(floors, kind="stable")
        return places[order], floors[order]

    def _judge(self, layer: Layer, places: Places, looked_at: Mask, contest: Contest) -> Mask:
        """Evaluate schemes, record the bounds that hold for all schemes below, and return a mask of failures.

        A scheme fails here if all schemes below it fail as well.
        """
        counted, fits, extra = self._entered(contest, layer.schemes[places])
        self.evaluated += len(places)
        looked_at[places] = True
        layer.at_least[places] = must_suppress(counted, self.limit, self.monotone)
        if extra is not None:
            layer.extra[places[fits]] = extra
        return layer.at_least[places] > self.limit

    def _promising(self, layer: Layer, ceiling: float) -> Mask:
        """Return a mask of the schemes below which a better scheme is possible.

        Such a scheme must be able to stay within the suppression limit and below the cost of the incumbent.
        """
        promising: Mask = layer.at_least <= self.limit
        if self.objective.steady and layer.extra.any():
            promising &= self.objective.floors_below(layer.levels, layer.extra) <= ceiling
        return promising


def _some(places: Places) -> Places:
    """Return the first batch of schemes to evaluate together."""
    return places[: min(max(_TOGETHER, len(places) // _PART), _MOST)]


def must_suppress(counted: Counted, limit: int, monotone: Monotone) -> Ints:
    """Return, per scheme, a lower bound on the number of persons that all more specific schemes must suppress."""
    if monotone.suppression:
        return counted.suppressed
    if limit == 0 and monotone.generalisation:
        return np.maximum(counted.small, counted.suppressed > 0)
    return counted.small


def _told(space: Space, best: Best | None) -> str:
    """Describe the best scheme so far without disclosing any data."""
    if best is None:
        return "No scheme that meets the requirements had been found."
    levels = ", ".join(f"{name} {level}" for name, level in space.scheme(best.scheme).items())
    return f"Best scheme so far: cost {short(best.price)}, {best.suppressed:,} individuals suppressed, levels {levels}."


def so_far(price: float) -> str:
    """Describe the cost of the best scheme so far."""
    return f"searching, best cost so far {short(price)}" if np.isfinite(price) else "searching"


def evaluate(evaluators: Sequence[Evaluator], schemes: Ints) -> Counted:
    """Evaluate schemes, given in ascending order; large batches are divided among threads."""
    threads = min(len(evaluators), 2 * len(schemes) // _SHARED)
    if threads <= 1:
        return evaluators[0].counted(schemes)
    parts = np.array_split(schemes, threads)
    futures = [pool().submit(evaluator.counted, part) for evaluator, part in zip(evaluators, parts, strict=False)]
    wait(futures)
    return Counted.joined([future.result() for future in futures])
