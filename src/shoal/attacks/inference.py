"""Inference: prediction of the sensitive value from the nearest record."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.beliefs import prior
from shoal.attacks.distances import Distances
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.recoding.cells import Cells
from shoal.recoding.nodes import Floats
from shoal.table.column import Column
from shoal.table.scale import scale
from shoal.words import share


@ATTACKS.register("inference")
class Inference(Attack):
    """Share of individuals whose sensitive value equals that of the nearest released record with a value.

    The distance is Gower's, over all known attributes; ties are broken at random. A number is correct if it deviates by
    at most ``tolerance`` of the true value, a date if it deviates by at most that share of the range of the original.
    WP216; Giomi et al. 2023. Baseline: the best constant guess. Control: individuals outside the data.

    >>> import shoal
    >>> data = {"age": [30, 40, 50], "dx": ["flu", "ms", "flu"]}
    >>> before = shoal.read(data).assign(quasi="age", sensitive="dx")
    >>> result = next(Inference().run(Scene.of(before, shoal.read({**data, "age": [31, 42, 49]}))))
    >>> result.success.value, round(result.baseline, 2)
    (1.0, 0.67)
    """

    name: ClassVar[str] = "inference"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "the best constant guess"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.SENSITIVE})

    tolerance: float = Field(default=0.05, ge=0, lt=1, description="relative tolerance for numbers")
    targets: int = Field(default=1000, ge=1, description="maximum number of targets")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack each sensitive column."""
        rng = scene.rng(self.name)
        for column in scene.secret:
            people = scene.having(column).drawn(self.targets, rng)
            if not len(people):
                continue
            strangers = scene.strangers(column, most=self.targets)
            right = self._guessed(scene, people, column)
            yield self.result(
                scene,
                f"the nearest record has the true value (numbers: within {share(self.tolerance)})",
                right,
                self._always_the_same(scene, people, column),
                None if strangers is None else self._guessed(scene, strangers, column),
                column=column,
                people=people,
            )

    def _guessed(self, scene: Scene, people: KnownPeople, column: str) -> Floats:
        """Return the probability that the value of the selected record is correct, for each individual."""
        rows, missing = scene.rows((*scene.known, column)), scene.cells[column].column.missing_code
        if missing is not None:
            rows = rows.only(rows.codes[-1] != missing)  # a record without a value answers nothing
        if not len(rows):
            return np.zeros(len(people))
        right = Right.of(scene.cells[column], rows.codes[-1], self.tolerance)
        guessed = np.zeros(len(people))
        for near in Distances.of(scene, scene.known, rows).nearest(people):
            hits = right.pairs(people.codes[column][near.part][near.who], near.row)
            weights, size = rows.counts[near.row].astype(np.float64), len(near.least)
            guessed[near.part] = np.bincount(near.who, weights * hits, size) / np.bincount(near.who, weights, size)
        return guessed

    def _always_the_same(self, scene: Scene, people: KnownPeople, column: str) -> float:
        """Return the accuracy of the best constant guess according to the release: a value, or a number."""
        cells = scene.cells[column]
        mine = scale(cells.column)
        if mine is not None:
            guesses = cells.numbers[cells.codes]
            allowed = _allowed(cells.column, mine, self.tolerance)
            window = _widest_window(guesses[~np.isnan(guesses)], self.tolerance, allowed)
            return _in_window(mine[people.codes[column]], window)
        likely = prior(scene, column)
        if cells.column.missing_code is not None:
            likely[cells.column.missing_code] = 0  # individuals without a value are not attacked
        return float((people.codes[column] == likely.argmax()).mean())


def _allowed(column: Column, numbers: Floats, tolerance: float) -> float | None:
    """Return the tolerated deviation of dates; None for numbers, whose tolerance is relative."""
    known = numbers[~np.isnan(numbers)]
    return None if column.kind.numeric or not len(known) else tolerance * float(np.ptp(known))


def _widest_window(numbers: Floats, tolerance: float, allowed: float | None = None) -> tuple[float, float]:
    """Return the range of true values for which one guess is correct and that contains the most numbers.

    A guess g is correct for v if ``|g − v| ≤ tolerance · |v|``: for positive v, between ``g / (1 + tolerance)`` and
    ``g / (1 − tolerance)``. The best range has one of the numbers at its lower end. ``allowed``: the tolerated
    deviation of dates, which is the same for all values.
    """
    if not len(numbers):
        return np.nan, np.nan
    ordered = np.sort(numbers)
    ratio = (1 + tolerance) / (1 - tolerance) if tolerance < 1 else np.inf
    with np.errstate(invalid="ignore"):
        ends = np.where(ordered > 0, ordered * ratio, np.where(ordered < 0, ordered / ratio, 0.0))
    if allowed is not None:
        ends = ordered + 2 * allowed
    ends = np.nan_to_num(ends, nan=0.0) + 1e-9 * np.abs(ends)
    best = int((np.searchsorted(ordered, ends, side="right") - np.arange(len(ordered))).argmax())
    return float(ordered[best]), float(ends[best])


def _in_window(values: Floats, window: tuple[float, float]) -> float:
    return float(((values >= window[0]) & (values <= window[1])).mean()) if len(values) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Right:
    """The correctness of the values that rows show.

    Numbers are correct within a tolerance; for other values, it is the probability of the true value in the set shown.
    """

    cells: Cells
    codes: NDArray[np.unsignedinteger[Any]]
    mine: Floats | None
    tolerance: float

    @classmethod
    def of(cls, cells: Cells, codes: NDArray[np.unsignedinteger[Any]], tolerance: float) -> "Right":
        """Take rows with the given released codes."""
        return cls(cells, codes, scale(cells.column), tolerance)

    def pairs(self, values: NDArray[np.unsignedinteger[Any]], rows: NDArray[np.intp]) -> Floats:
        """Return, for pairs of a true value and a row, the probability that the row shows the value."""
        codes = self.codes[rows]
        if self.mine is None:
            inside = self.cells.holds(codes, values)
            return np.asarray(inside / np.maximum(self.cells.sizes[self.cells.nodes[codes]], 1))
        off, mine = np.abs(self.cells.numbers[codes] - self.mine[values]), self.mine[values]
        allowed = _allowed(self.cells.column, self.mine, self.tolerance)
        return np.asarray(off <= (self.tolerance * np.abs(mine) if allowed is None else allowed) + 1e-12, np.float64)
