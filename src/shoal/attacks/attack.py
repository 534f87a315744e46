"""What every attack brings: whom it suits, what it needs, and how it is carried out."""

from abc import abstractmethod
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, ClassVar

from shoal.analyses.estimate import Estimate
from shoal.attacks.result import Adversary, Criterion, CurvePoint, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats
from shoal.registry import Registry
from shoal.validation import Checked


class AttackNeed(StrEnum):
    """What an attack cannot do without."""

    KNOWN = "a quasi-identifier in the release"
    SENSITIVE = "a sensitive column in the release"
    TRUTH = "records matched with the original"
    OUTSIDERS = "individuals outside the data with all quasi-identifiers"
    SECOND = "a second release that has a quasi-identifier"
    EVENTS = "individuals with several records"
    LEARNING = "scikit-learn"


class Attack(Checked):
    """The base of all attacks. Parameters are fields."""

    name: ClassVar[str]
    adversary: ClassVar[Adversary]
    criterion: ClassVar[Criterion]
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN})
    default: ClassVar[bool] = True  # whether it is in the battery wherever it can be
    on_card: ClassVar[bool] = True  # whether success answers a question of WP216, and is not only a step on the way
    without: ClassVar[str] = "without the release"  # how the baseline is reached

    @abstractmethod
    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack; yield a result for each thing it is after."""

    def result(
        self, scene: Scene, says: str, reached: Floats, baseline: float, others: Floats | None = None, **more: Any
    ) -> Result:
        """Put a result together: what was reached with each target, and with each stranger, from 0 to 1."""
        if "persons" not in more:
            more["persons"] = scene.over_original(scene.targets, reached)
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

    @staticmethod
    def point(at: float, reached: Floats, baseline: float) -> CurvePoint:
        """Return a point of a curve: what was reached with each target."""
        return CurvePoint(at, _share(reached), float(baseline))


def _share(reached: Floats) -> Estimate:
    """Return the mean, with the interval of a share: numbers between 0 and 1 vary less than yes and no."""
    return Estimate.share(float(reached.mean()), len(reached)) if len(reached) else Estimate(0.0, 0.0, 1.0)


ATTACKS: Registry[type[Attack]] = Registry("attack", "shoal.attacks")
