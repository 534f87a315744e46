"""Minimality: inference from the knowledge that nothing was generalised without need."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.kernels.grouping import group_rows
from shoal.recoding.nodes import Floats, Ints

_WIDEST = 500  # maximum size of an attacked class
_ENOUGH, _BATCHES = 200, 20  # failing assignments required, and batches drawn at most


@ATTACKS.register("minimality")
class Minimality(Attack):
    """Share of individuals whose value has a probability above 1/l (by default 1/2) for those who know the algorithm.

    An algorithm that generalises only where l-diversity fails reveals that some of the finer groups failed. Among all
    assignments of the values of a class to its individuals, those in which every finer group (individuals with the same
    quasi-identifiers) would have passed are ruled out. The others are drawn at random, and the probability of a
    person's value is its frequency among them. A group fails if a value has a share above 1/l of it. Wong et al. 2007.
    Baseline: the probability without that knowledge. The attack is for releases that were required to be l-diverse,
    with the given ``l``.

    >>> import shoal
    >>> data = {"zip": ["1", "1", "2", "2", "2", "2", "2"], "dx": ["hiv", "hiv", "a", "b", "c", "d", "e"]}
    >>> before = shoal.read(data).assign(quasi="zip", sensitive="dx")
    >>> release = shoal.read({**data, "zip": ["{1, 2}"] * 7})
    >>> result = next(Minimality(l=2).run(Scene.of(before, release, truth=np.arange(7))))
    >>> result.baseline, result.persons.round(2).tolist()[:2]  # two cases of HIV among five do not fail
    (0.0, [1.0, 1.0])
    """

    name: ClassVar[str] = "minimality"
    adversary: ClassVar[Adversary] = Adversary.ADAPTIVE
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "without knowledge of the algorithm"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.SENSITIVE, AttackNeed.TRUTH})
    reads_sets: ClassVar[bool] = True
    default: ClassVar[bool] = False

    l: int = Field(default=2, ge=2, description="l of the required l-diversity")  # noqa: E741
    draws: int = Field(default=2000, ge=10, description="number of assignments tried in each class")
    classes: int = Field(default=200, ge=1, description="maximum number of classes")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack each sensitive column."""
        if scene.truth is None:
            return
        people = scene.insiders
        released = np.flatnonzero(scene.truth[people.records] >= 0)
        own = scene.truth[people.records[released]]
        shown = [scene.release.codes(name)[own] for name in scene.known]
        classes = group_rows(shown, [scene.release[name].size for name in scene.known], len(own))
        exact = [people.codes[name][released] for name in scene.known]
        groups = group_rows(exact, [scene.cells[name].column.size for name in scene.known], len(own))
        for column in scene.secret:
            truth, rng = people.codes[column][released].astype(np.int64), scene.rng(f"{self.name} {column}")
            wide = np.flatnonzero((classes.counts > 1) & (classes.counts <= _WIDEST))
            chosen = wide if len(wide) <= self.classes else np.sort(rng.choice(wide, self.classes, replace=False))
            with_, without = np.full(len(own), np.nan), np.full(len(own), np.nan)
            for sensitive in chosen:
                members = np.flatnonzero(classes.ids == sensitive)
                with_[members], without[members] = self._likely(groups.ids[members], truth[members], rng)
            looked = np.flatnonzero(~np.isnan(with_))
            if len(looked):
                reached = with_[looked] > 1 / self.l + 1e-9
                yield self.result(
                    scene,
                    f"the true value has a probability above 1/{self.l}",
                    reached.astype(np.float64),
                    float((without[looked] > 1 / self.l + 1e-9).mean()),
                    column=column,
                    persons=scene.over_original(people.some(released[looked]), with_[looked]),
                    details={"classes": len(chosen), "largest": float(with_[looked].max())},
                )

    def _likely(self, groups: NDArray[np.uint32], truth: Ints, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the probability of the true value of each class member, with and without knowing the algorithm."""
        values, own, counts = np.unique(truth, return_inverse=True, return_counts=True)
        without = counts[own] / len(truth)
        finer, group = np.unique(groups, return_inverse=True)
        if len(finer) < 2:
            return without, without
        sizes = np.bincount(group)
        dealt = np.zeros((0, len(own)), own.dtype)
        for _ in range(_BATCHES):
            drawn = rng.permuted(np.tile(own, (self.draws, 1)), axis=1)
            dealt = np.concatenate([dealt, drawn[self._fails(drawn, group, sizes, len(values))]])
            if len(dealt) >= _ENOUGH:
                break
        if len(dealt) < _ENOUGH:  # generalised for another reason, or not decidable
            return without, without
        likely: Floats = (dealt == own).mean(axis=0)
        return likely, without

    def _fails(
        self, dealt: NDArray[np.intp], group: NDArray[np.intp], sizes: NDArray[np.intp], values: int
    ) -> NDArray[np.bool_]:
        """Return the mask of assignments in which a finer group fails."""
        fails = np.zeros(len(dealt), bool)
        for value in range(values):
            numbers = np.stack(
                [(dealt[:, group == number] == value).sum(axis=1) for number in range(len(sizes))], axis=1
            )
            fails |= (numbers * self.l > sizes).any(axis=1)
        return fails
