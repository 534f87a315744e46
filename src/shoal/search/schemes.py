"""All schemes of a lattice, with the cost and the number of suppressed persons of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ModelError
from shoal.progress import Hook, Progress, silent
from shoal.recoding.nodes import Floats
from shoal.remedy import Setting, by
from shoal.search.goal import Goal
from shoal.search.objective import Ints
from shoal.search.optimum import Contest
from shoal.search.space import Scheme
from shoal.sheet import Presentable, Sheet
from shoal.table.frames import of_columns
from shoal.words import counted

MOST = 100_000  # default maximum number of schemes
_TOGETHER, _SHOWN = 2048, 10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Schemes(Presentable):
    """Cost and suppression of every scheme.

    ``levels[i, j]``: the level of column ``names[j]`` in scheme i. ``prices``: the cost of each scheme by ``quality``.
    ``suppressed``: the number of persons in classes that fail. ``limit``: the number of persons that may be suppressed,
    out of ``persons``. ``best``: the number of the best scheme that meets the requirements, None if there is none.
    ``shape``: the number of levels per column, in the order in which schemes are numbered.
    """

    __module__ = "shoal"

    names: tuple[str, ...]
    levels: Ints
    prices: Floats
    suppressed: Ints
    limit: int
    persons: int
    quality: str
    best: int | None
    shape: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.levels)

    @property
    def meets(self) -> NDArray[np.bool_]:
        """Mask of the schemes that meet the requirements."""
        return np.asarray((self.suppressed <= self.limit) & (self.suppressed < self.persons))

    def to_dict(self) -> dict[str, Any]:
        """Return the schemes as plain data, column by column."""
        return {
            "quality": self.quality,
            "persons": self.persons,
            "limit": self.limit,
            "best": None if self.best is None else self.scheme(self.best),
            "levels": {name: self.levels[:, place].tolist() for place, name in enumerate(self.names)},
            "cost": self.prices.tolist(),
            "suppressed": self.suppressed.tolist(),
            "meets": self.meets.tolist(),
        }

    def to_frame(self, kind: str | None = None) -> Any:
        """Return one row per scheme: the level of each column, the cost, and the number of suppressed persons."""
        columns = self.to_dict()
        levels = {f"level of {name}": levels_of for name, levels_of in columns["levels"].items()}
        rest = {name: columns[name] for name in ("cost", "suppressed", "meets")}
        return of_columns({**levels, **rest}, kind)

    def sheet(self) -> Sheet:
        """Return the cheapest schemes that meet the requirements."""
        good = np.flatnonzero(self.meets)
        first = good[np.argsort(self.prices[good], kind="stable")][:_SHOWN]
        rows = [
            (*map(str, self.levels[place]), f"{self.prices[place]:.4f}", f"{self.suppressed[place]:,}")
            for place in first
        ]
        title = f"{len(good):,} of {counted(len(self), 'scheme')} meet the requirements; the best by {self.quality}:"
        return Sheet(title, (*self.names, "cost", "suppressed"), tuple(rows), words=0)

    def scheme(self, place: int) -> Scheme:
        """Return the level of each column in a scheme."""
        return dict(zip(self.names, self.levels[place].tolist(), strict=True))

    def place(self, scheme: Mapping[str, int]) -> int:
        """Return the number of a scheme."""
        wanted = np.array([scheme[name] for name in self.names])
        return int(np.flatnonzero((self.levels == wanted).all(axis=1))[0])

    def finest(self) -> NDArray[np.bool_]:
        """Return a mask of the minimal schemes that meet the requirements.

        A scheme is minimal if none that is one level more specific in one column meets the requirements.
        """
        meets = self.meets.reshape(self.shape)
        finest = meets.copy()
        for axis, length in enumerate(self.shape):
            upper = (slice(None),) * axis + (slice(1, length),)
            lower = (slice(None),) * axis + (slice(0, length - 1),)
            finest[upper] &= ~meets[lower]
        return np.asarray(finest.ravel())


def schemes(goal: Goal, limit: int, progress: Hook = silent, *, most: int = MOST) -> Schemes:
    """Evaluate every scheme of a lattice.

    ``limit``: the number of persons that may be suppressed. Counts are exact up to the suppression limit of the goal
    itself. A lattice of more than ``most`` schemes is rejected.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind_all
    >>> from shoal.models.evidence import Gatherer
    >>> from shoal.models.k_anonymity import KAnonymity
    >>> from shoal.qualities.loss import Loss
    >>> from shoal.search.space import Space
    >>> table = shoal.read({"age": [31, 34, 38, 71]})
    >>> space = Space.of(table, ["age"], bind_all({"age": {"kind": "interval", "widths": [10]}}, table))
    >>> found = schemes(Goal(space, Gatherer(table), (KAnonymity(k=2),), Loss(), 4), 1)
    >>> found.suppressed.tolist(), found.meets.tolist(), found.best
    ([4, 1, 0], [False, True, True], 1)
    """
    space = goal.space
    if space.schemes > most:
        raise ModelError(
            "too-many-schemes",
            "There are {schemes:,} generalisation schemes, which are too many to list.",
            remedy=by("Restrict the levels of some columns", Setting("search.levels")),
            schemes=space.schemes,
        )
    evaluator, contest = goal.evaluator, Contest(space)
    prices, suppressed = [], []
    for begin in range(0, len(space), _TOGETHER):
        progress(Progress("evaluating schemes", begin, len(space)))
        counted = evaluator.counted(np.arange(begin, min(begin + _TOGETHER, len(space))))
        prices.append(goal.objective.priced(counted).prices)
        suppressed.append(counted.suppressed)
        fits = np.flatnonzero((counted.suppressed <= limit) & (counted.suppressed < goal.evidence.classes.persons))
        contest.enter(counted.some(fits), prices[-1][fits])
    best = contest.best()
    levels = np.stack(np.unravel_index(np.arange(len(space)), space.shape), axis=1)
    levels += np.array([ladder.low for ladder in space.ladders])
    order = [space.names.index(name) for name in space.quasi]
    return Schemes(
        space.quasi,
        levels[:, order],
        np.concatenate(prices),
        np.concatenate(suppressed),
        limit,
        goal.evidence.classes.persons,
        goal.quality.name,
        None if best is None else best.scheme,
        space.shape,
    )
