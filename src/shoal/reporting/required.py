"""Required: a requirement in a report, with its verdicts on the original and on the release."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from shoal.models.model import Verdict
from shoal.release.judgement import Guarantee, Judgement
from shoal.risk.assessment import Assessment

Verdicts: TypeAlias = Mapping[tuple[str, str, str], Verdict]  # by source, title and parameters


@dataclass(frozen=True, slots=True)
class Required:
    """A requirement with its source, its parameters, and the verdicts on the original and on the release.

    ``after``: None if the release could not be judged; ``why`` gives the reason. ``moot``: the release contains nothing
    that the requirement applies to.
    """

    source: str
    title: str
    asked: str
    before: Verdict | None
    after: Verdict | None
    why: str = ""
    moot: bool = False
    guarantee: Guarantee = Guarantee.VERIFIED

    @classmethod
    def of(cls, judgement: Judgement, earlier: "Verdicts") -> "Required":
        """Return a judged requirement. ``earlier``: the verdicts on the original."""
        source, after = judgement.source, judgement.verdict
        before = earlier.get((source, after.title, after.asked))
        return cls(source, after.title, after.asked, before, after, guarantee=judgement.guarantee)

    @property
    def outcome(self) -> str:
        """Whether the requirement is met, and by which kind of evidence."""
        if self.after is None:
            return "nothing to protect" if self.moot else "not judged"
        return Judgement(self.source, "", self.after, self.guarantee).outcome

    @property
    def attained(self) -> str:
        """The value attained by the release."""
        return "–" if self.after is None else Judgement(self.source, "", self.after, self.guarantee).attained

    @property
    def holds(self) -> bool:
        """Whether the requirement is met."""
        return self.moot or (self.after is not None and self.after.satisfied)

    def public(self) -> "Required":
        """Return the requirement without attained values, which may depend on suppressed persons."""
        return replace(
            self, before=None, after=None if self.after is None else replace(self.after, value={}, classes=0, persons=0)
        )


def verdicts(assessment: Assessment) -> Verdicts:
    """Return the verdicts of an assessment by source, title and parameters."""
    judged = [requirement for requirement in assessment.requirements if requirement.measured]
    return {
        (judged_model.source, judged_model.verdict.title, judged_model.verdict.asked): judged_model.verdict
        for judged_model in judged
    }
