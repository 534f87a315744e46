"""Best-first search for lattices that are too large to enumerate: a good scheme and its optimality gap.

A box contains all schemes between a most specific and a most generalised one. If the most generalised scheme fails, all
schemes of the box fail. In each column, the lowest level of the box is raised as long as the most generalised scheme
fails with that level. The cost of the most specific scheme, plus the cost that suppression already adds in the most
generalised one, is then a lower bound for all schemes of the box. Boxes are split in ascending order of their bounds;
the lowest bound of the open boxes holds for all schemes (branch and bound, Land and Doig 1960).
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

import numpy as np

from shoal.progress import Progress
from shoal.recoding.nodes import Floats
from shoal.search.objective import Counted, Ints
from shoal.search.optimum import Contest, Mask, Outcome, Places, Searching, must_suppress, so_far

_TOGETHER = 16  # boxes processed together


@dataclass(frozen=True, slots=True, eq=False, order=False)
class Box:
    """All schemes between ``low`` and ``high`` in every column; ``bound``: a lower bound on their costs."""

    bound: float
    low: Ints
    high: Ints

    def __lt__(self, other: "Box") -> bool:
        return (self.bound, -int(self.low.sum())) < (other.bound, -int(other.low.sum()))

    def halves(self, column: int, bounds: Sequence[float]) -> tuple["Box", "Box"]:
        """Split the box into the lowest level of a column and the levels above it."""
        low, high = self.low.copy(), self.high.copy()
        high[column] = self.low[column]
        low[column] += 1
        return Box(bounds[0], self.low, high), Box(bounds[1], low, self.high)


@dataclass(eq=False)
class BestFirst(Searching):
    """Splits boxes until none can contain a better scheme, or until ``seconds`` have elapsed."""

    seconds: float
    _fails: dict[int, bool] = field(default_factory=dict)
    _extra: dict[int, Floats] = field(default_factory=dict)

    def _found(self, contest: Contest) -> Outcome:
        begun = monotonic()
        top = np.array(self.space.shape) - 1
        if self._look(top[None, :], contest)[0]:
            return Outcome(contest.best(), len(self._fails), len(self.space), self._lowest([], contest))
        self._descend(top, contest)
        heap = [Box(-np.inf, np.zeros_like(top), top)]
        while heap and heap[0].bound < contest.price and monotonic() - begun < self.seconds:
            share = min((monotonic() - begun) / self.seconds, 1)
            self.progress(Progress(self._so_far(heap, contest), int(share * 1000), 1000))
            boxes = [heapq.heappop(heap) for _ in range(min(_TOGETHER, len(heap)))]
            for box in self._tightened(boxes, contest):
                for half in self._halved(box, contest):
                    heapq.heappush(heap, half)
        return Outcome(contest.best(), len(self._fails), len(self.space), self._lowest(heap, contest))

    def _so_far(self, heap: list[Box], contest: Contest) -> str:
        """Describe the cost of the best scheme and the lower bound."""
        bound = self._lowest(heap, contest)
        proved = f", at least {bound:.6g}" if np.isfinite(bound) else ""
        return so_far(contest.price) + proved

    @staticmethod
    def _lowest(heap: list[Box], contest: Contest) -> float:
        """Return the lower bound on the cost of all schemes."""
        return min(heap[0].bound if heap else contest.price, contest.price)

    def _number(self, levels: Ints) -> Ints:
        return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(levels, -1, 0)), self.space.shape))

    def _look(self, levels: Ints, contest: Contest) -> Mask:
        """Evaluate the schemes that are new, and return a mask of those that fail with all more specific schemes."""
        numbers = self._number(levels)
        new = np.unique([number for number in numbers.tolist() if number not in self._fails])
        if len(new):
            self._note(*self._entered(contest, new.astype(np.int64)))
        return np.array([self._fails[number] for number in numbers.tolist()], bool)

    def _note(self, counted: Counted, fits: Places, extra: Floats | None) -> None:
        failing = must_suppress(counted, self.limit, self.monotone) > self.limit
        self._fails.update(zip(counted.schemes.tolist(), failing.tolist(), strict=True))
        if extra is not None:
            self._extra.update(zip(counted.schemes[fits].tolist(), extra, strict=True))

    def _descend(self, top: Ints, contest: Contest) -> None:
        """Descend greedily in the column with the largest saving, to obtain a good first incumbent."""
        here = top.copy()
        while True:
            finer = here - np.eye(len(here), dtype=np.int64)
            finer = finer[finer.min(axis=1) >= 0]
            finer = finer[~self._look(finer, contest)] if len(finer) else finer
            if not len(finer):
                return
            here = finer[int(np.argmin(self.objective.floors(finer)))]

    def _tightened(self, boxes: list[Box], contest: Contest) -> list[Box]:
        """Raise the lowest levels of boxes as far as the requirements demand; discard boxes that cannot improve."""
        boxes = [
            box for box, fails in zip(boxes, self._look(_stacked(boxes, "high"), contest), strict=True) if not fails
        ]
        tightened: list[Box] = []
        while boxes:
            tests = [_tests(box) for box in boxes]
            failing = self._look(np.concatenate([levels for levels, _ in tests]), contest)
            still: list[Box] = []
            for box, (levels, columns) in zip(boxes, tests, strict=True):
                mine, failing = failing[: len(levels)], failing[len(levels) :]
                low = box.low.copy()
                low[columns[mine]] += 1
                tight = Box(self._bound(low, box.high), low, box.high)
                if tight.bound < contest.price:
                    (still if mine.any() else tightened).append(tight)
            boxes = still
        if tightened:
            self._look(_stacked(tightened, "low"), contest)
        return tightened

    def _bound(self, low: Ints, high: Ints) -> float:
        if not self.objective.steady:
            return -np.inf
        extra = self._extra.get(int(self._number(high)))
        return float(self.objective.floors_above(low[None, :], None if extra is None else extra[None, :])[0])

    def _halved(self, box: Box, contest: Contest) -> list[Box]:
        """Split a box in the column whose levels differ most in cost; keep the halves that may hold a better scheme."""
        open_ = np.flatnonzero(box.low < box.high)
        if not len(open_):
            return []
        coarser = np.tile(box.low, (len(open_), 1))
        coarser[np.arange(len(open_)), open_] += 1
        rise = self.objective.floors(coarser)
        column = int(open_[np.argmax(rise)])
        halves = box.halves(column, (box.bound, max(box.bound, self._bound(coarser[int(np.argmax(rise))], box.high))))
        return [half for half in halves if half.bound < contest.price]


def _stacked(boxes: Sequence[Box], side: str) -> Ints:
    return np.array([getattr(box, side) for box in boxes], np.int64)


def _tests(box: Box) -> tuple[Ints, Ints]:
    """Return, per column with several levels, the most generalised scheme with that column on its lowest level."""
    columns = np.flatnonzero(box.low < box.high)
    levels = np.tile(box.high, (len(columns), 1))
    levels[np.arange(len(columns)), columns] = box.low[columns]
    return levels, columns
