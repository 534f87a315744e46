"""Composition: two releases, each harmless, of the same people."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.attack import ATTACKS, Attack, Need
from shoal.attacks.beliefs import counted, prior
from shoal.attacks.people import People
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats


@ATTACKS.register("composition")
class Composition(Attack):
    """The share of people whose sensitive value is known for sure to somebody who has two releases.

    In each release the records that may be a person's leave some values; in both together only those that both leave
    are possible: weights q₁·q₂ / p. Ganta, Kasiviswanathan & Smith 2008. Baseline: the better one of the two releases
    alone. The adversary knows that the person is in both.

    >>> import shoal
    >>> data = {"age": [31, 34, 38], "sex": ["f", "m", "f"], "dx": ["flu", "ms", "gout"]}
    >>> before = shoal.read(data).assign(quasi=["age", "sex"], sensitive="dx")
    >>> one = shoal.read({"age": ["30-34", "30-34", "38"], "sex": ["*"] * 3, "dx": data["dx"]})
    >>> two = shoal.read({"age": ["*"] * 3, "sex": ["f", "m", "f"], "dx": data["dx"]})
    >>> result = next(Composition().run(Scene.of(before, one, second=Scene.of(before, two))))
    >>> result.success.value, round(result.baseline, 2)
    (1.0, 0.33)
    """

    name: ClassVar[str] = "composition"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY
    needs: ClassVar[frozenset[Need]] = frozenset({Need.KNOWN, Need.SENSITIVE, Need.SECOND})

    def run(self, scene: Scene) -> Iterator[Result]:
        """Look at each sensitive column that both releases have."""
        other = scene.second
        if other is None:
            return
        for column in (name for name in scene.secret if name in other.secret):
            people = scene.having(column)
            first, second = _left(scene, people, column), _left(other, people, column)
            both = first * second / np.maximum(prior(scene, column), 1e-12)
            truth = people.codes[column].astype(np.intp)
            certain = [_certain(held, truth) for held in (both, first, second)]
            left = [float((held > 0).sum(axis=1).mean()) for held in (first, second, both)]
            yield self.result(
                scene,
                "the value is known for sure",
                certain[0],
                max(float(held.mean()) for held in certain[1:]),
                column=column,
                persons=scene.over_original(people, certain[0]),
                details=dict(zip(("values_left_first", "values_left_second", "values_left_both"), left, strict=True)),
            )


def _left(scene: Scene, people: People, column: str) -> Floats:
    """Return how frequent each value is among the records that may be each person's."""
    found = np.zeros((len(people), scene.cells[column].column.size))
    for part, counts in counted(scene, people, column):
        found[part] = counts
    return found


def _certain(weights: Floats, truth: NDArray[np.intp]) -> Floats:
    """Tell of whom only the true value is left."""
    own = weights[np.arange(len(truth)), truth] > 0
    return np.asarray(own & ((weights > 0).sum(axis=1) == 1), np.float64)
