"""Skewness: a sensitive value is much more frequent among the records that may be somebody's than in all."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, Need
from shoal.attacks.beliefs import believed, prior
from shoal.attacks.people import People
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats


@ATTACKS.register("skewness")
class Skewness(Attack):
    """The share of people whose true value has become much likelier than it is in the whole release.

    Likelier by ``factor``: q / p ≥ factor, where q is the share of the value among the records that may be the person's
    and p that in the release. Li et al. 2007. Baseline: 0, for without a release nothing becomes likelier.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "hiv": ["no", "yes", "no", "no"]}
    >>> before = shoal.read(data).assign(quasi="age", sensitive="hiv")
    >>> scene = Scene.of(before, shoal.read({**data, "age": ["30-39", "30-39", "70-79", "70-79"]}))
    >>> result = next(Skewness().run(scene))
    >>> result.success.value, result.details["largest"]
    (0.25, 2.0)
    """

    name: ClassVar[str] = "skewness"
    adversary: ClassVar[Adversary] = Adversary.STATISTICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    needs: ClassVar[frozenset[Need]] = frozenset({Need.KNOWN, Need.SENSITIVE})
    on_card: ClassVar[bool] = False

    factor: float = Field(default=2.0, gt=1, description="how many times likelier a value must have become")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Look at each sensitive column."""
        for column in scene.secret:
            people = scene.having(column)
            if not len(people):
                continue
            ratios = _ratios(scene, people, column)
            strangers = scene.strangers(column)
            others = None if strangers is None else self._reached(_ratios(scene, strangers, column))
            yield self.result(
                scene,
                f"the value has become {self.factor:g} times as likely",
                self._reached(ratios),
                0,
                others,
                column=column,
                persons=scene.over_original(people, self._reached(ratios)),
                details={"largest": float(ratios.max(initial=0)), "mean": float(ratios.mean()) if len(ratios) else 0.0},
            )

    def _reached(self, ratios: Floats) -> Floats:
        return (ratios >= self.factor * (1 - 1e-12)).astype(np.float64)


def _ratios(scene: Scene, people: People, column: str) -> Floats:
    """Return how many times likelier the true value has become."""
    before = prior(scene, column)[people.codes[column].astype(np.intp)]
    ratios: Floats = believed(scene, people, column).right / np.where(before > 0, before, 1)
    return ratios
