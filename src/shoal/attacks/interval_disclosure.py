"""Interval disclosure: released numbers that are close to the true ones."""

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.errors import AttackError
from shoal.recoding.nodes import Floats
from shoal.table.role import Role
from shoal.table.scale import scale

_PAIRS = 20  # random records per individual, for the baseline


@ATTACKS.register("interval-disclosure")
class IntervalDisclosure(Attack):
    """Share of individuals whose numbers lie close to those of their own record: each column, and all together.

        |x − x'| ≤ t·s

    x: the true number; x': the released number, or the midpoint of its interval; s: the standard deviation of the
    column in the original; t: the tolerance. The columns are the released quasi-identifiers and sensitive columns whose
    numbers or dates were changed, unless ``columns`` names others. A number that is missing or not shown is not close.
    Of a person with several records, any one suffices. Mateo-Sanz, Sebé & Domingo-Ferrer 2004 ask for all columns at
    once; a column that is hardly changed is found only by itself. Baseline: the record of a random individual.

    ``spread = "released"`` takes s from the release, as dRisk of sdcMicro does. A perturbation that widens the numbers
    then raises its own risk.

    >>> import shoal
    >>> before = shoal.read({"bmi": [20.0, 25.0, 30.0, 35.0]}).assign(quasi="bmi")
    >>> noisy = shoal.read({"bmi": [20.4, 25.1, 33.0, 31.0]})
    >>> next(IntervalDisclosure(tolerance=0.1).run(Scene.of(before, noisy, truth=np.arange(4)))).success.value
    0.5
    """

    name: ClassVar[str] = "interval-disclosure"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "the record of a random individual"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.TRUTH})
    default: ClassVar[bool] = False
    judges_perturbed: ClassVar[bool] = True
    about: ClassVar[frozenset[Role]] = frozenset({Role.QUASI, Role.SENSITIVE})

    tolerance: float = Field(
        default=0.05, gt=0, allow_inf_nan=False, description="distance that is close, in standard deviations"
    )
    spread: Literal["original", "released"] = Field(
        default="original", description="table whose standard deviation is used (released: as in sdcMicro)"
    )
    columns: tuple[str, ...] | None = Field(default=None, description="columns (default: all with numbers)")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Compare the numbers of each target with those of its records."""
        names = numbers(scene) if self.columns is None else self._named(scene)
        if not names:
            return
        people = scene.targets
        which, record = scene.own(people)
        own = self._each_close(scene, people, names, which, record)
        chance = self._each_close(scene, people, names, *self._by_chance(scene, people))
        yield self._close(scene, which, np.logical_and.reduce(own), np.logical_and.reduce(chance), names)
        if len(names) > 1:
            for name, close, random in zip(names, own, chance, strict=True):
                yield self._close(scene, which, close, random, (name,))

    def _close(
        self,
        scene: Scene,
        which: NDArray[np.intp],
        close: NDArray[np.bool_],
        random: NDArray[np.bool_],
        names: tuple[str, ...],
    ) -> Result:
        """Return the result on one column, or on several together, from pairs of a target and a record."""
        reached = np.zeros(len(scene.targets))
        reached[which[close]] = 1.0
        return self.result(
            scene,
            f"the numbers are within {self.tolerance:g} standard deviations of the true ones",
            reached,
            float(random.mean()) if len(random) else 0.0,
            column=names[0] if len(names) == 1 else None,
            details={"columns": list(names)},
        )

    def _named(self, scene: Scene) -> tuple[str, ...]:
        for name in self.columns or ():
            if name not in scene.cells or scale(scene.columns[name]) is None:
                raise AttackError(
                    "no-numbers-released",
                    "The release shows no numbers in column '{column}'.",
                    column=name,
                )
        return self.columns or ()

    def _each_close(
        self,
        scene: Scene,
        people: KnownPeople,
        names: tuple[str, ...],
        which: NDArray[np.intp],
        record: NDArray[np.intp],
    ) -> list[NDArray[np.bool_]]:
        """Return for each column which pairs of an individual and a released record have close numbers."""
        close = []
        for name in names:
            cells, places = scene.cells[name], _scale(scene, name)
            true, shown = places[people.codes[name][which]], cells.numbers[cells.codes[record]]
            close.append(np.abs(true - shown) <= self.tolerance * self._spread(scene, name))
        return close

    def _spread(self, scene: Scene, name: str) -> float:
        """Return the standard deviation of a column over its records, with n − 1 in the denominator."""
        cells = scene.cells[name]
        values = _scale(scene, name)[scene.values(name)] if self.spread == "original" else cells.numbers[cells.codes]
        known = values[~np.isnan(values)]
        return float(known.std(ddof=1)) if len(known) > 1 else 0.0

    def _by_chance(self, scene: Scene, people: KnownPeople) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return random pairs of an individual and a released record."""
        number = len(people) * _PAIRS if scene.release.records else 0
        which = np.repeat(np.arange(len(people)), _PAIRS)[:number]
        return which, scene.rng(self.name).integers(0, max(scene.release.records, 1), number)


def numbers(scene: Scene) -> tuple[str, ...]:
    """Return the released quasi-identifiers and sensitive columns with numbers or dates.

    Columns that the release shows unchanged are omitted, unless all are.
    """
    names = tuple(name for name in (*scene.known, *scene.secret) if scale(scene.columns[name]) is not None)
    return tuple(name for name in names if _is_changed(scene, name)) or names


def _is_changed(scene: Scene, name: str) -> bool:
    """Return whether any released record shows another number than the true one."""
    truth = np.full(scene.original.records, -1) if scene.truth is None else scene.truth
    there, cells = np.flatnonzero(truth >= 0), scene.cells[name]
    true, shown = _scale(scene, name)[scene.values(name)[there]], cells.numbers[cells.codes[truth[there]]]
    return not np.array_equal(true, shown, equal_nan=True)


def _scale(scene: Scene, name: str) -> Floats:
    places = scale(scene.columns[name])
    if places is None:
        raise TypeError("only numbers and dates have positions")
    return places
