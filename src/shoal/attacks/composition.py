"""Composition: two releases, each harmless, of the same people."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from shoal.attacks.attack import ATTACKS, Attack, Need
from shoal.attacks.beliefs import counted
from shoal.attacks.people import People
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats


@ATTACKS.register("composition")
class Composition(Attack):
    """The share of people whose sensitive value is known for sure to somebody who has two releases.

    In each release the records that may be a person's leave some values; in both together only those that both leave
    are possible. Ganta, Kasiviswanathan & Smith 2008. Baseline: the better one of the two releases
    alone. The adversary knows that the person is in both.

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
    needs: ClassVar[frozenset[Need]] = frozenset({Need.KNOWN, Need.SENSITIVE, Need.SECOND})
    without: ClassVar[str] = "with one of the two releases"

    def run(self, scene: Scene) -> Iterator[Result]:
        """Look at each sensitive column that both releases have."""
        other = scene.second
        if other is None:
            return
        for column in (name for name in scene.secret if name in other.secret):
            people = scene.having(column)
            if not len(people):
                continue
            certain, left = _certain(scene, other, people, column)
            yield self.result(
                scene,
                "the value is known for sure",
                certain[0],
                max(float(held.mean()) for held in certain[1:]),
                column=column,
                persons=scene.over_original(people, certain[0]),
                details=dict(zip(("values_left_both", "values_left_first", "values_left_second"), left, strict=True)),
            )


def _certain(scene: Scene, other: Scene, people: People, column: str) -> tuple[list[Floats], list[float]]:
    """Tell of whom only the true value is left: by both releases, the first, the second; and how many are left."""
    certain, number = np.zeros((3, len(people))), np.zeros(3)
    for (part, first), (_, second) in zip(*(counted(one, people, column) for one in (scene, other)), strict=True):
        truth = people.codes[column][part].astype(np.intp)
        for place, left in enumerate(((first > 0) & (second > 0), first > 0, second > 0)):
            certain[place, part] = left[np.arange(len(truth)), truth] & (left.sum(axis=1) == 1)
            number[place] += left.sum()
    return list(certain), list(number / len(people))
