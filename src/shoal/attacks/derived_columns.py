"""Derived columns: generalised values are computed from other released columns of the same record."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.analyses.derivations import derivations
from shoal.analyses.equation import Equation
from shoal.analyses.relations import most_frequent
from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.best_guess import best_guess
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats
from shoal.table.scale import scale


@ATTACKS.register("derived-columns")
class DerivedColumns(Attack):
    """Share of individuals whose generalised value is computed from other columns of their released record.

    Some columns determine others: weight and the body mass index the height, a postcode the district, a year of
    birth the age. The adversary knows such relations, also those with exceptions. Attacked is every quasi-
    identifier of which the release does not show the values, if columns that it shows determine it, alone or two
    together. The relation is taken from the original, as general knowledge: a value for each value, or a linear or
    log-linear equation. A number is computed if it deviates by at most ``tolerance`` standard deviations. Baseline:
    the best constant guess. Individuals without a released record are not targets.

    >>> import shoal
    >>> data = {"district": ["a", "b"] * 20, "town": ["x", "y"] * 20}
    >>> before = shoal.read(data).assign(quasi="district", insensitive="town")
    >>> scene = Scene.of(before, shoal.read({**data, "district": ["*"] * 40}), truth=np.arange(40))
    >>> result = next(DerivedColumns().run(scene))
    >>> result.success.value, result.baseline, result.details["from"]
    (1.0, 0.5, ['town'])
    """

    name: ClassVar[str] = "derived-columns"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "the best constant guess"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.TRUTH})

    tolerance: float = Field(default=0.02, ge=0, lt=1, description="deviation of numbers, in standard deviations")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack each quasi-identifier that the release does not show, by the relation that computes it best."""
        shown = [name for name, cells in scene.cells.items() if cells.are_values and name in scene.original]
        targets = [name for name in scene.original.quasi if name not in shown]
        people = scene.targets
        if scene.truth is None or not shown or not targets:
            return
        people = people.some(scene.truth[people.records] >= 0)
        found = derivations(scene.original, targets, shown, seed=scene.seed)
        for target in targets:
            told = [derivation.columns for derivation in found if derivation.target == target]
            here = people.some(people.codes[target] != _missing(scene, target))
            if told and len(here):
                yield self._result(scene, here, target, list(dict.fromkeys(told)))

    def _result(self, scene: Scene, people: KnownPeople, target: str, told: Sequence[tuple[str, ...]]) -> Result:
        tries = {others: self._computed(scene, people, target, others) for others in told}
        best = max(tries, key=lambda others: float(tries[others].mean()))
        return self.result(
            scene,
            "the value is computed from other columns of the released record",
            tries[best],
            self._constant(scene, people, target),
            column=target,
            people=people,
            details={"from": list(best)},
        )

    def _computed(self, scene: Scene, people: KnownPeople, target: str, others: tuple[str, ...]) -> Floats:
        """Return whether the value of each individual is computed from the released cells of some columns."""
        truth = scene.truth if scene.truth is not None else np.zeros(0, np.intp)
        released = [scene.cells[name].values_at(truth[people.records]) for name in others]
        original = [scene.values(name).astype(np.int64) for name in others]
        places = scale(scene.columns[target])
        if places is None or len(others) == 1:
            guess = _looked_up(scene.values(target).astype(np.int64), original[0], released[0])
            right = guess == people.codes[target]
            return np.asarray(
                right if places is None else right | self._close(places, guess, people.codes[target]), np.float64
            )
        numbers = [scale(scene.columns[name]) for name in others]
        if any(of is None for of in numbers):
            return np.zeros(len(people))
        known = [of[codes] for of, codes in zip(numbers, original, strict=True) if of is not None]
        seen = [
            np.where(codes < 0, np.nan, of[codes])
            for of, codes in zip(numbers, released, strict=True)
            if of is not None
        ]
        wanted, true = places[scene.values(target)], places[people.codes[target]]
        equation = Equation.fitted(wanted, known)
        if equation is None:
            return np.zeros(len(people))
        near = self.tolerance * float(np.nanstd(wanted))
        return np.asarray(np.abs(equation.of(seen) - true) <= near, np.float64)

    def _close(self, places: Floats, guess: NDArray[np.int64], truth: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
        near = self.tolerance * float(np.nanstd(places))
        with np.errstate(invalid="ignore"):
            return np.asarray((guess >= 0) & (np.abs(places[np.maximum(guess, 0)] - places[truth]) <= near))

    def _constant(self, scene: Scene, people: KnownPeople, target: str) -> float:
        """Return the accuracy of the best constant guess."""
        places, codes = scale(scene.columns[target]), people.codes[target]
        if places is None:
            return float(np.bincount(codes).max() / len(codes))
        numbers = places[codes]
        return best_guess(numbers, self.tolerance * float(np.nanstd(numbers)))


def _missing(scene: Scene, name: str) -> int:
    code = scene.columns[name].missing_code
    return -1 if code is None else code


def _looked_up(wanted: NDArray[np.int64], known: NDArray[np.int64], seen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the most frequent wanted value beside each seen value; −1 if there is none."""
    at, often = most_frequent(known.astype(np.float64), wanted.astype(np.float64))
    place = np.minimum(np.searchsorted(at, seen), len(at) - 1)
    return np.where(at[place] == seen, often[place], -1).astype(np.int64)
