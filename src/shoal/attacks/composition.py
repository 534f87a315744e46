"""Composition: two releases of the same individuals, each harmless by itself."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.beliefs import counted
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats

_ROOM = 1 << 23  # pairs of individuals and values held in memory at a time


@ATTACKS.register("composition")
class Composition(Attack):
    """Share of individuals whose sensitive value is disclosed with certainty by two releases together.

    The candidate records of a person in each release limit the possible values; both releases together leave their
    intersection. Ganta, Kasiviswanathan & Smith 2008. Baseline: the more disclosive of the two releases alone. The
    adversary knows that the person is in both.

    >>> import shoal
    >>> data = {"age": [31, 34, 38], "sex": ["f", "m", "f"], "dx": ["flu", "ms", "gout"]}
    >>> before = shoal.read(data).assign(quasi=["age", "sex"], sensitive="dx")
    >>> one = shoal.read({"age": ["30-34", "30-34", "38"], "sex": ["*"] * 3, "dx": data["dx"]})
    >>> two = shoal.read({"age": ["*"] * 3, "sex": ["f", "m", "f"], "dx": data["dx"]})
    >>> result = next(Composition().run(Scene.of(before, one, second=two)))
    >>> result.success.value, round(result.baseline, 2)
    (1.0, 0.33)
    """

    name: ClassVar[str] = "composition"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY
    baseline_is: ClassVar[str] = "the more disclosive of the two releases"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.SENSITIVE, AttackNeed.SECOND})
    reads_sets: ClassVar[bool] = True

    targets: int = Field(default=2000, ge=1, description="maximum number of targets")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack each sensitive column that both releases have."""
        other = scene.second
        if other is None:
            return
        for column in (name for name in scene.secret if name in other.secret):
            people = scene.having(column).drawn(self.targets, scene.rng(self.name))
            if not len(people):
                continue
            certain, left = _certain(scene, other, people, column)
            yield self.result(
                scene,
                "only the true value is possible in both releases",
                certain[0],
                max(float(certainty.mean()) for certainty in certain[1:]),
                column=column,
                persons=scene.over_original(people, certain[0]),
                details=dict(zip(("values_left_both", "values_left_first", "values_left_second"), left, strict=True)),
            )


def _certain(scene: Scene, other: Scene, people: KnownPeople, column: str) -> tuple[list[Floats], list[float]]:
    """Return whether only the true value of each individual is possible, and the mean number of possible values.

    Both are given for the two releases together, the first, and the second.
    """
    values = scene.columns[column].size
    certain, number = np.zeros((3, len(people))), np.zeros(3)
    together = max(_ROOM // values, 1)
    for begin in range(0, len(people), together):
        part = slice(begin, min(begin + together, len(people)))
        some = people.some(part)
        first, second = (_left(view, some, column, values) for view in (scene, other))
        truth = np.arange(len(some)) * values + some.codes[column].astype(np.intp)
        for place, left in enumerate((np.intersect1d(first, second, assume_unique=True), first, second)):
            alone = np.bincount(left // values, minlength=len(some)) == 1
            certain[place, part] = alone & np.isin(truth, left)
            number[place] += len(left)
    return list(certain), list(number / len(people))


def _left(scene: Scene, people: KnownPeople, column: str, values: int) -> NDArray[np.intp]:
    """Return the possible values of all individuals, as numbers: individual · values + value."""
    possible = []
    for weighed in counted(scene, people, column):
        who, which = np.nonzero(weighed.weights > 0)
        possible.append((who + weighed.part.start) * values + weighed.values[which])
    return np.concatenate([*possible, np.zeros(0, np.intp)])
