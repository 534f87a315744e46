"""Homogeneity: all candidate records of a person have the same sensitive value."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.beliefs import Weighed, judged, shares
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene


@ATTACKS.register("homogeneity")
class Homogeneity(Attack):
    """Share of individuals whose sensitive value is disclosed with certainty by their quasi-identifiers.

    If all k candidate records of a person have the same value, the adversary need not know which of them is the
    person's. Machanavajjhala et al. 2007; Peng 2021. Baseline: the share that would be correct by chance, if sensitive
    values were independent of the quasi-identifiers. Control: the same share of individuals outside the data. Only
    individuals with a value are attacked.

    >>> import shoal
    >>> before = shoal.read({"age": [31, 34, 71], "dx": ["flu", "flu", "ms"]}).assign(quasi="age", sensitive="dx")
    >>> scene = Scene.of(before, shoal.read({"age": ["30-39", "30-39", "*"], "dx": ["flu", "flu", "ms"]}))
    >>> next(Homogeneity().run(scene)).success.value  # only the record with * can be the third person's
    1.0
    """

    name: ClassVar[str] = "homogeneity"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "expected if sensitive values were independent of the quasi-identifiers"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.SENSITIVE})
    reads_sets: ClassVar[bool] = True

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack each sensitive column."""
        for column in scene.secret:
            people = scene.having(column)
            if not len(people):
                continue
            (right, likely), (chance, _) = judged(scene, people, column, [_alone, shares])
            strangers = scene.strangers(column)
            others = None if strangers is None else judged(scene, strangers, column, [_alone])[0][0]
            yield self.result(
                scene,
                "all released records that match the individual have the true value",
                right,
                float(chance.mean()),
                others,
                column=column,
                people=people,
                persons=scene.over_original(people, likely),
                details={f"likelier_than_{share:g}": float((likely >= share).mean()) for share in (0.5, 0.8, 0.9)},
            )


def _alone(weighed: Weighed) -> NDArray[np.bool_]:
    """Return the mask of values that are certain."""
    return weighed.alone
