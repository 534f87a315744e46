"""Linkage rate: the success of the stronger of two attacks that do not rely on true values."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.distance_linkage import DistanceLinkage
from shoal.attacks.probabilistic_linkage import ProbabilisticLinkage
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene


@ATTACKS.register("linkage-rate")
class LinkageRate(Attack):
    """Share of individuals re-identified by the better of distance-based and probabilistic linkage.

    Both attacks link each individual to the released record that resembles the known attributes most, whether the
    record covers them or not, and so apply to perturbed quasi-identifiers, for which k-anonymity says nothing. The
    success of the stronger attack is reported, with its name among the details. Baseline: a random record.

    >>> import numpy as np
    >>> import shoal
    >>> before = shoal.read({"age": [30, 40, 50], "bmi": [20.0, 25.0, 30.0]}).assign(quasi=["age", "bmi"])
    >>> noisy = shoal.read({"age": [31, 39, 52], "bmi": [20.4, 26.0, 29.0]})
    >>> next(LinkageRate().run(Scene.of(before, noisy, truth=np.arange(3)))).success.value
    1.0
    """

    name: ClassVar[str] = "linkage-rate"
    adversary: ClassVar[Adversary] = Adversary.STATISTICAL
    bounded_by_size: ClassVar[bool] = True
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY
    baseline_is: ClassVar[str] = "a random record"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.TRUTH})
    default: ClassVar[bool] = False
    judges_perturbed: ClassVar[bool] = True

    targets: int = Field(default=1000, ge=1, description="maximum number of targets")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Run both attacks, and report the stronger one."""
        attacks = DistanceLinkage(targets=self.targets), ProbabilisticLinkage(targets=self.targets)
        results = [result for attack in attacks for result in attack.run(scene)]
        best = max(results, key=lambda result: result.success.value)
        details = {"attack": best.attack, "tolerance": best.details.get("tolerance")}
        yield replace(best, attack=self.name, details=details)
