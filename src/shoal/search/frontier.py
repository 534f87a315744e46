"""The frontier between risk and quality: the optimal scheme for every k and every suppression limit.

Every scheme of the lattice is evaluated once for all k. A class that is too small for one k is too small for all larger
ones, so classes are sorted into bands by size.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import floor
from queue import SimpleQueue
from threading import Lock
from typing import Any

import numpy as np

from shoal.errors import ModelError
from shoal.exact import exact
from shoal.kernels.threads import in_threads
from shoal.progress import Hook, Progress, silent
from shoal.remedy import Option, Setting, by, either
from shoal.search.evaluation import Evaluator
from shoal.search.goal import Goal
from shoal.search.objective import Ints
from shoal.search.optimum import Best, Contest
from shoal.search.space import Scheme
from shoal.sheet import Presentable, Sheet
from shoal.table.frames import of_rows
from shoal.words import counted, share

SIZES = (2, 3, 5, 10, 11, 20, 50, 100)
LIMITS = (0.0, 0.02, 0.05, 1.0)
MOST_SCHEMES = 4_000_000
_WORK, _ALWAYS = 20_000_000_000, 1000  # rows times schemes in a few minutes; schemes always allowed
_TOGETHER, _ROOM = 2048, 1 << 24  # schemes evaluated together, and the numbers they may occupy


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """The optimal scheme for a minimum class size ``k``, with at most a share ``limit`` of the persons suppressed.

    ``scheme``: None if no scheme meets the requirements.
    """

    k: int
    limit: float
    scheme: Scheme | None
    price: float | None
    suppressed: int | None
    classes: int | None


@dataclass(frozen=True, slots=True, repr=False)
class Frontier(Presentable):
    """Points sorted by k, then by limit. ``schemes``: the number of schemes, all of which were evaluated."""

    __module__ = "shoal"

    quality: str
    points: tuple[FrontierPoint, ...]
    schemes: int

    def at(self, k: int, limit: float) -> FrontierPoint:
        """Return the point for a given k and limit."""
        points = [point for point in self.points if (point.k, point.limit) == (k, limit)]
        if not points:
            raise ModelError(
                "no-such-point", "The frontier has no point for k = {k} and a limit of {limit:share}.", k=k, limit=limit
            )
        return points[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the frontier as plain data, as printed by ``shoal anonymize --frontier --json``."""
        return {"quality": self.quality, "schemes": self.schemes, "frontier": [asdict(point) for point in self.points]}

    def to_frame(self, kind: str | None = None) -> Any:
        """Return one row per point, with the level of each quasi-identifier in a separate column."""
        rows = []
        for point in self.points:
            levels = {f"level of {name}": level for name, level in (point.scheme or {}).items()}
            rows.append({**{key: value for key, value in asdict(point).items() if key != "scheme"}, **levels})
        return of_rows(rows, kind)

    def sheet(self) -> Sheet:
        """Return the lowest cost for every k and limit."""
        limits = list(dict.fromkeys(point.limit for point in self.points))
        rows = [
            (f"{k:,}", *(_price(self.at(k, limit).price) for limit in limits))
            for k in dict.fromkeys(point.k for point in self.points)
        ]
        title = f"Lowest {self.quality} of {counted(self.schemes, 'scheme')}"
        return Sheet(
            title,
            ("k", *(f"at most {share(limit)} suppressed" if limit else "no suppression" for limit in limits)),
            tuple(rows),
            words=0,
        )


def _price(price: float | None) -> str:
    return "–" if price is None else f"{price:.4f}"


def frontier(
    goal: Goal,
    sizes: Sequence[int] = SIZES,
    limits: Sequence[float] = LIMITS,
    progress: Hook = silent,
    *,
    most: int | None = None,
) -> Frontier:
    """Find the optimal scheme for each k and limit; all other requirements of the goal apply at every point.

    A lattice of more than ``most`` schemes is rejected; by default, the maximum is the number of schemes that can be
    evaluated in a few minutes.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind_all
    >>> from shoal.models.evidence import Gatherer
    >>> from shoal.qualities.loss import Loss
    >>> from shoal.search.space import Space
    >>> table = shoal.read({"age": [31, 34, 38, 71]})
    >>> space = Space.of(table, ["age"], bind_all({"age": {"kind": "interval", "widths": [10]}}, table))
    >>> found = frontier(Goal(space, Gatherer(table), (), Loss(), 0), [2, 3], [0.0, 0.5])
    >>> [(point.k, point.limit, point.scheme, point.suppressed) for point in found.points]
    [(2, 0.0, {'age': 2}, 0), (2, 0.5, {'age': 1}, 1), (3, 0.0, {'age': 2}, 0), (3, 0.5, {'age': 1}, 1)]
    """
    space, everybody = goal.space, goal.evidence.classes.persons
    allowed = _fitting(goal) if most is None else most
    if space.schemes > allowed:
        limit = f"at most {allowed:,} are allowed" if most else f"about {allowed:,} can be evaluated in a few minutes"
        raise ModelError(
            "frontier-too-large",
            "The information loss by k requires all generalisation schemes. There are {schemes:,}; {limit}.",
            remedy=either(
                by("Restrict levels", Setting("search.levels")),
                "search for a single optimum",
                Option("most", space.schemes),
            ),
            schemes=space.schemes,
            limit=limit,
        )
    ks, shares = sorted(set(sizes)), sorted(set(limits))
    if not ks or not shares or ks[0] < 1 or not 0 <= shares[0] <= shares[-1] <= 1:
        raise ModelError("bad-frontier", "A frontier requires class sizes of at least 1 and limits between 0 and 1.")
    contests = {(k, limit): Contest(space) for k in ks for limit in shares}
    free: SimpleQueue[Evaluator] = SimpleQueue()
    for evaluator in goal.evaluators(keeping=False):
        free.put(evaluator)
    lock, objective = Lock(), goal.objective
    least = [min(k, everybody + 1) for k in ks]  # beyond the number of persons, all k are equivalent
    parts = _parts(goal, len(ks))

    def look(part: int) -> None:
        evaluator = free.get()
        try:
            priced = [(counted, objective.priced(counted).prices) for counted in evaluator.by_sizes(parts[part], least)]
        finally:
            free.put(evaluator)
        with lock:
            for k, (counted, prices) in zip(ks, priced, strict=True):
                for limit in shares:
                    fits = np.flatnonzero(counted.suppressed <= floor(exact(limit) * everybody))
                    contests[k, limit].enter(counted.some(fits), prices[fits])

    def report_steps(done: int, total: int) -> None:
        progress(Progress("evaluating schemes", done * len(space) // total, len(space)))

    in_threads(look, range(len(parts)), goal.threads, report_steps)
    points = [_point(goal, k, limit, contest.best()) for (k, limit), contest in contests.items()]
    return Frontier(goal.quality.name, tuple(points), len(space))


def _fitting(goal: Goal) -> int:
    """Return the number of schemes that can be evaluated in a few minutes; the work is rows times schemes."""
    rows = len(goal.space.table.distinct(goal.space.quasi))
    return min(MOST_SCHEMES, max(_WORK // goal.evaluator.work(max(rows, 1)), _ALWAYS))


def _parts(goal: Goal, sizes: int) -> list[Ints]:
    """Split the schemes into parts that fit into the memory limit."""
    width = sum(ladder.sizes[0] for ladder in goal.space.ladders)
    most = max(min(_TOGETHER, _ROOM // (width * sizes)), 1)
    whole = 1  # schemes that agree in the first columns, for which a walk shares work
    for levels in reversed(goal.space.shape):
        if whole * levels > most:
            break
        whole *= levels
    together = most // whole * whole
    return [np.arange(begin, min(begin + together, len(goal.space))) for begin in range(0, len(goal.space), together)]


def _point(goal: Goal, k: int, limit: float, best: Best | None) -> FrontierPoint:
    if best is None:
        return FrontierPoint(k, limit, None, None, None, None)
    return FrontierPoint(k, limit, goal.space.scheme(best.scheme), best.price, best.suppressed, best.classes)
