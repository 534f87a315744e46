"""Judgements: every requirement, how a release fares, and how that is known."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from shoal.models.model import Verdict


class Guarantee(StrEnum):
    """How it is known that a requirement is met."""

    PROVED = "proved"  # by the mechanism that made the release
    VERIFIED = "verified"  # counted in the written files
    MEASURED = "measured"  # by an attack, with its interval


@dataclass(frozen=True, slots=True)
class Judgement:
    """A requirement, who asks for it, how the release fares, and how that is known."""

    source: str
    says: str
    verdict: Verdict
    guarantee: Guarantee = Guarantee.VERIFIED

    @property
    def outcome(self) -> str:
        """Whether it is met, and how that is known.

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
            "column": verdict.column,
            "parameters": verdict.parameters,
            "value": verdict.value,
            "satisfied": verdict.satisfied,
            "guarantee": self.guarantee,
        }
