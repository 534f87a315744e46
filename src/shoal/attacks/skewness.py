"""Skewness: a sensitive value is much more frequent among the candidate records of a person than in the release."""

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.beliefs import Weighed, judged, prior, shares
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats


@ATTACKS.register("skewness")
class Skewness(Attack):
    """Share of individuals whose true value has become much more probable than in the whole release.

    The criterion is q / p ≥ ``factor``, where q is the share of the value among the candidate records of the person and
    p its share in the release. Li et al. 2007. Baseline: the share by chance, if sensitive values were independent of
    the quasi-identifiers.

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
    baseline_is: ClassVar[str] = "expected if sensitive values were independent of the quasi-identifiers"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.SENSITIVE})
    reads_sets: ClassVar[bool] = True
    off_card: ClassVar[str] = "counts a shift of probability"

    factor: float = Field(default=2.0, gt=1, description="factor by which the probability must increase")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack each sensitive column."""
        for column in scene.secret:
            people = scene.having(column)
            if not len(people):
                continue
            often, strangers = prior(scene, column), scene.strangers(column)
            risen = partial(self._risen, often)
            (right, ratios), (chance, _) = judged(scene, people, column, [risen, partial(_ratios, often)])
            others = None if strangers is None else judged(scene, strangers, column, [risen])[0][0]
            yield self.result(
                scene,
                f"the probability of the true value is at least {self.factor:g} times its share in the release",
                right,
                float(chance.mean()),
                others,
                column=column,
                people=people,
                details={"largest": float(ratios.max(initial=0)), "mean": float(ratios.mean()) if len(ratios) else 0.0},
            )

    def _risen(self, often: Floats, weighed: Weighed) -> NDArray[np.bool_]:
        """Return the mask of values whose probability has increased by the factor."""
        return np.asarray(_ratios(often, weighed) >= self.factor * (1 - 1e-9))


def _ratios(often: Floats, weighed: Weighed) -> Floats:
    """Return the factor by which the probability of each value has increased."""
    return np.asarray(shares(weighed) / np.where(often[weighed.values] > 0, often[weighed.values], 1))
