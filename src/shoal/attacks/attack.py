"""Base class of all attacks: type of adversary, prerequisites and execution."""

from abc import abstractmethod
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.area import area_under_curve
from shoal.analyses.estimate import Estimate, over_clusters
from shoal.attacks.result import Adversary, Criterion, CurvePoint, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats, Ints
from shoal.registry import Registry
from shoal.table.role import Role
from shoal.validation import Checked


class AttackNeed(StrEnum):
    """Prerequisite of an attack."""

    KNOWN = "a quasi-identifier in the release"
    SENSITIVE = "a sensitive column in one table with the quasi-identifiers"
    TRUTH = "records matched with the original"
    OUTSIDERS = "a control group of individuals outside the data (outsiders), with all quasi-identifiers"
    SHADOWS = "a policy, and individuals outside the data (outsiders) with all columns of the original, one record each"
    OTHERS = "another release of the same individuals"
    EVENTS = "individuals with several records, and a release that shows which records belong together"
    COUNTERFEITS = "a release with counterfeits, matched by the owner's record mapping, a key or the order"
    LEARNING = "scikit-learn"
    BUCKETS = "a release in several tables, matched by the owner's record mapping, a key or the order"


class Attack(Checked):
    """Base class of all attacks. Parameters are fields."""

    name: ClassVar[str]
    adversary: ClassVar[Adversary]
    criterion: ClassVar[Criterion]
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN})
    default: ClassVar[bool] = True  # whether the battery includes it by default
    off_card: ClassVar[str] = ""  # the reason why success is no risk of WP216; empty: it is one
    targets_release: ClassVar[bool] = True  # whether the release is attacked, so that its success can be limited
    judges_perturbed: ClassVar[bool] = False  # whether its limit may replace k-anonymity of perturbed columns
    reads_sets: ClassVar[bool] = False  # whether it takes cells for true sets, so that means mislead it
    bounded_by_size: ClassVar[bool] = False  # whether classes of k individuals accept a success of 1/k
    about: ClassVar[frozenset[Role]] = frozenset({Role.SENSITIVE})  # the columns whose success can be limited
    unit: ClassVar[str] = "individual"  # what success is a share of
    baseline_is: ClassVar[str] = "the same success without the release"  # the baseline in words

    @classmethod
    def must_run(cls, scene: Scene) -> bool:  # noqa: ARG003
        """Return whether its risk is not assessed without this attack, because others do not read the release."""
        return False

    @abstractmethod
    def run(self, scene: Scene) -> Iterator[Result]:
        """Run the attack and yield one result per attacked column or variant."""

    def result(
        self, scene: Scene, says: str, reached: Floats, baseline: float, others: Floats | None = None, **more: Any
    ) -> Result:
        """Assemble a result from the success on each target, from 0 to 1.

        ``others``: the success on each individual of the control group, from 0 to 1. ``people``: the targets, if they
        are not all individuals whom the scene targets. ``persons``: a number for each record, if not the success.
        ``fates``: the group of individuals with a common fate, if it is not the class.
        """
        fates = more.pop("fates", None)
        people = more.pop("people", None if "persons" in more else scene.targets)
        if "persons" not in more:
            more["persons"] = scene.over_original(people, reached)
        if people is not None and len(people):
            more["over_tables"] = over_clusters(reached, scene.fates(people) if fates is None else fates)
        if others is not None and len(others):
            more["control"] = _share(others)
        return Result(
            self.name,
            says,
            self.adversary,
            self.criterion,
            _share(reached),
            float(baseline),
            len(reached),
            scene.seed,
            **more,
        )

    def told_apart(
        self,
        scene: Scene,
        says: str,
        scores: Floats,
        positive: NDArray[np.bool_],
        strata: Ints | None = None,
        **more: Any,
    ) -> Result:
        """Assemble a result from scores that should be higher for ``positive`` ones: the area under the ROC curve.

        ``strata``: only scores of the same stratum are compared.
        """
        area = area_under_curve(scores, positive, strata=strata)
        return Result(self.name, says, self.adversary, self.criterion, area, 0.5, len(scores), scene.seed, **more)

    @staticmethod
    def point(at: float, reached: Floats, baseline: float) -> CurvePoint:
        """Return a point of a curve from the success on each target."""
        return CurvePoint(at, _share(reached), float(baseline))


def _share(reached: Floats) -> Estimate:
    """Return the mean success with the confidence interval of a proportion.

    The interval is conservative: values between 0 and 1 vary less than binary ones.
    """
    return Estimate.share(float(reached.mean()), len(reached)) if len(reached) else Estimate(0.0, 0.0, 1.0)


ATTACKS: Registry[type[Attack]] = Registry("attack", "shoal.attacks")
