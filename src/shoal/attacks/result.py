"""The result of an attack: success, baseline without the release, and control on individuals outside the data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import hypot
from statistics import NormalDist
from typing import Any

from shoal.analyses.estimate import NORMAL, Estimate
from shoal.recoding.nodes import Floats
from shoal.words import short


class Adversary(StrEnum):
    """Type of adversary (Olatunji 2021, Table 3).

    ``classical``: knows facts about a person and searches for the record. ``statistical``: analyses distributions and
    trains models on them. ``adaptive``: knows how the release was produced and adapts to intermediate results.
    """

    CLASSICAL = "classical"
    STATISTICAL = "statistical"
    ADAPTIVE = "adaptive"

    @property
    def conduct(self) -> str:
        """Semi-honest if the adversary only reads the given data, malicious if the adversary breaks agreements."""
        return "malicious" if self is Adversary.ADAPTIVE else "semi-honest"


class Criterion(StrEnum):
    """The three risks of opinion 05/2014 of the Article 29 Working Party (WP216)."""

    SINGLING_OUT = "singling out"
    LINKABILITY = "linkability"
    INFERENCE = "inference"


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of a curve: the success of the adversary at ``at``, and the baseline without the release."""

    at: float
    success: Estimate
    baseline: float


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The result of one attack. All shares refer to the ``targets``.

    ``says``: the criterion of success. ``baseline``: the success of an adversary without the release. ``control``: the
    success of the same attack on individuals outside the data, which is due to general knowledge; or, if
    ``control_is_chance``, where nothing can be learned from the release. ``persons[i]``: the
    success on record i of the original, NaN for records that were not attacked. ``axis``: the variable of the curve.
    ``ceiling``, ``floor``: the success of the same attack on the original, and on a release in which every
    quasi-identifier is suppressed, if measured. ``column``: the attacked column, if any. ``variant``: the variant of
    the attack, if there are several. ``over_tables``: the success with an interval for other tables of the same
    population, in which the individuals of a class share their fate; that of ``success`` is for other targets of this
    release. ``comparisons``: the number of results that are judged together.
    """

    attack: str
    says: str
    adversary: Adversary
    criterion: Criterion
    success: Estimate
    baseline: float
    targets: int
    seed: int
    column: str | None = None
    variant: str = ""
    control: Estimate | None = None
    control_is_chance: bool = False
    ceiling: Estimate | None = None
    floor: Estimate | None = None
    over_tables: Estimate | None = None
    comparisons: int = 1
    persons: Floats | None = field(default=None, repr=False)
    axis: str = ""
    curve: tuple[CurvePoint, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "attack": self.attack,
            "variant": self.variant,
            "column": self.column,
            "says": self.says,
            "success": self.success.value,
            "low": self.success.low,
            "high": self.success.high,
            "tables_low": None if self.over_tables is None else self.over_tables.low,
            "tables_high": None if self.over_tables is None else self.over_tables.high,
            "baseline": self.baseline,
            "control": None if self.control is None else self.control.value,
            "ceiling": None if self.ceiling is None else self.ceiling.value,
            "floor": None if self.floor is None else self.floor.value,
            "lift": self.lift,
            "risk": self.risk,
            "targets": self.targets,
            "adversary": self.adversary,
            "conduct": self.adversary.conduct,
            "criterion": self.criterion,
            "curve": [
                {
                    "at": point.at,
                    "success": point.success.value,
                    "low": point.success.low,
                    "high": point.success.high,
                    "baseline": point.baseline,
                }
                for point in self.curve
            ],
            "axis": self.axis,
            "details": dict(self.details),
            "notes": list(self.notes),
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
        }

    @property
    def title(self) -> str:
        """The name of the attack, with its variant and column."""
        way = f" ({self.variant})" if self.variant else ""
        return f"{self.attack}{way}{f' of {self.column}' if self.column else ''}"

    @property
    def lift(self) -> float:
        """The gain over the baseline as a share of the largest possible gain: 0 is none, 1 is all of it.

        >>> Result("a", "b", Adversary.CLASSICAL, Criterion.INFERENCE, Estimate(0.8, 0.7, 0.9), 0.6, 10, 0).lift
        0.5
        """
        return _gain(self.success.value, self.baseline)

    @property
    def risk(self) -> float | None:
        """The gain over the control as a share of the largest possible gain; None without a control group.

        It is the effect of being in the data (Giomi 2023).
        """
        if self.control is None or self.control_is_chance:
            return None
        return _gain(self.success.value, self.control.value)

    @property
    def gain(self) -> float:
        """The gain over the higher of baseline and control, as a share of the largest possible gain."""
        return _gain(self.success.value, self._reference)

    @property
    def gained(self) -> str:
        """The gain over the baseline in percentage points, with unit and 95% confidence interval.

        >>> Result("a", "b", Adversary.CLASSICAL, Criterion.INFERENCE, Estimate(0.62, 0.59, 0.65), 0.6, 10, 0).gained
        '2 percentage points (−1 to 5)'
        """
        value, low, high = self._points
        return f"{value} percentage points ({low} to {high})"

    @property
    def gained_points(self) -> str:
        """The gain over the baseline in percentage points with its 95% confidence interval, without the unit."""
        value, low, high = self._points
        return f"{value} ({low} to {high})"

    @property
    def _points(self) -> tuple[str, ...]:
        """The gain over the baseline and its interval, in percentage points."""
        points = [100 * (share - self.baseline) for share in (self.success.value, self.success.low, self.success.high)]
        return tuple(short(round(point, 3)).replace("-", "−") for point in points)

    @property
    def interval(self) -> str:
        """The 95% confidence interval of the success, in per cent.

        >>> Result("a", "b", Adversary.CLASSICAL, Criterion.INFERENCE, Estimate(0.62, 0.59, 0.65), 0.6, 10, 0).interval
        '59–65'
        """
        return f"{short(100 * self.success.low)}–{short(100 * self.success.high)}"

    @property
    def is_sure(self) -> bool:
        """Whether the gain over baseline and control is significant, at 5% for all ``comparisons`` together.

        The errors of success and control are both taken into account. With a single comparison and no control, the 95%
        interval lies above the baseline.

        >>> from dataclasses import replace
        >>> one = Result("a", "b", Adversary.CLASSICAL, Criterion.INFERENCE, Estimate(0.64, 0.61, 0.67), 0.6, 10, 0)
        >>> one.is_sure, replace(one, comparisons=20).is_sure, replace(one, control=Estimate(0.6, 0.57, 0.63)).is_sure
        (True, False, False)
        """
        factor = NormalDist().inv_cdf(1 - 0.025 / self.comparisons) / NORMAL
        below = factor * (self.success.value - self.success.low)
        if self.success.value - below <= self.baseline + 1e-12:
            return False
        if self.control is None or self.control_is_chance:
            return True
        apart = hypot(below, factor * (self.control.high - self.control.value))
        return self.success.value - apart > self.control.value

    @property
    def _reference(self) -> float:
        if self.control is None or self.control_is_chance:
            return self.baseline
        return max(self.baseline, self.control.value)

    @property
    def covers_baseline(self) -> bool:
        """Whether the adversary may have gained nothing: the interval does not lie above the baseline."""
        return self.success.low <= self.baseline


def _gain(value: float, reference: float) -> float:
    if reference >= 1:
        return 0.0
    return round((value - reference) / (1 - reference), 12)
