"""Judgements: the outcome of each requirement for a release, with the kind of evidence."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from shoal.models.model import Verdict


class Guarantee(StrEnum):
    """Kind of evidence that a requirement is met."""

    PROVED = "proved"  # by the mechanism that made the release
    VERIFIED = "verified"  # counted in the written files
    MEASURED = "measured"  # by an attack, with its interval


@dataclass(frozen=True, slots=True)
class Judgement:
    """Outcome of a requirement for a release.

    ``source``: the origin of the requirement, which is the policy or a preset. ``says``: its description. ``verdict``:
    the outcome. ``guarantee``: the kind of evidence.
    """

    source: str
    says: str
    verdict: Verdict
    guarantee: Guarantee = Guarantee.VERIFIED

    @property
    def attained(self) -> str:
        """The attained value, or the success rate of an attack with its interval.

        >>> from shoal.models.model import Verdict
        >>> value = {"success": 0.034, "low": 0.03, "high": 0.04}
        >>> verdict = Verdict("linkage", None, {}, value, "at most 5.0%", True, 0, 0)
        >>> Judgement("policy", "", verdict, Guarantee.MEASURED).attained
        '3.4% (3.0% to 4.0%)'
        """
        if self.guarantee is not Guarantee.MEASURED or not self.verdict.value:
            return self.verdict.attained
        success, low, high = (f"{float(self.verdict.value[name]):.1%}" for name in ("success", "low", "high"))
        return f"{success} ({low} to {high})"

    @property
    def outcome(self) -> str:
        """Whether the requirement is met, and the kind of evidence if it is.

        >>> from shoal.models.model import Verdict
        >>> Judgement("policy", "", Verdict("k-anonymity", None, {}, {}, "k = 2", True, 0, 0)).outcome
        'met (verified)'
        """
        return f"{self.verdict.says} ({self.guarantee})" if self.verdict.satisfied else self.verdict.says

    def to_dict(self) -> dict[str, Any]:
        """Return the judgement as plain data."""
        verdict = self.verdict
        return {
            "source": self.source,
            "model": verdict.model,
            **({"attack": verdict.model} if self.guarantee is Guarantee.MEASURED else {}),
            "column": verdict.column,
            "parameters": verdict.parameters,
            "value": verdict.value,
            "satisfied": verdict.satisfied,
            "guarantee": self.guarantee,
        }
