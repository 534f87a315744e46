"""Findings: all that was found out about a release, gathered for the report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from shoal.analyses.learning import Learned
from shoal.analyses.regression import Regressed
from shoal.analyses.survival import Curves
from shoal.assessment import Assessment, assess
from shoal.battery import Attacked
from shoal.comparison import Comparison, compare
from shoal.errors import ReportError
from shoal.individuals.people import People
from shoal.models.model import Need, Verdict
from shoal.policy.columns import ColumnPolicy, Data
from shoal.policy.policy import Policy
from shoal.policy.requirements import PresetRequirement
from shoal.presets.preset import PRESETS
from shoal.progress import Hook, Progress
from shoal.qualities.quality import Measured
from shoal.release.release import Release
from shoal.release.verification import with_persons
from shoal.search.frontier import Frontier
from shoal.search.schemes import Schemes
from shoal.table.column import SUPPRESSED
from shoal.table.reading import read
from shoal.table.role import Role
from shoal.table.table import Table

Analysis: TypeAlias = Learned | Regressed | Sequence[Curves]
USUAL = 11  # persons that are told of at least, where no k is required


@dataclass(frozen=True, slots=True)
class Required:
    """A requirement: who asks for it, what it says, and how the original and the release fare."""

    source: str
    says: str
    before: Verdict | None
    after: Verdict


@dataclass(frozen=True, eq=False)
class Findings:
    """``release``: what ``anonymize`` returned, None if somebody else made the released table.

    ``seen``: the released table, with whose record each is, if that is known; ``before``, ``after``: the assessment of
    the original and of the release. What is None was not looked at.
    """

    policy: Policy
    original: Table
    released: Table
    seen: Table
    before: Assessment
    after: Assessment
    comparison: Comparison
    release: Release | None = None
    attacks: Attacked | None = None
    people: People | None = None
    frontier: Frontier | None = None
    schemes: Schemes | None = None
    analyses: tuple[Analysis, ...] = ()

    @cached_property
    def least(self) -> int:
        """The largest k that is required."""
        asked = [getattr(model, "k", None) for _, _, model in self.policy.requirements()]
        return max([one for one in asked if isinstance(one, int)], default=USUAL)

    @property
    def threshold(self) -> Fraction:
        """The risk that is the largest that may be."""
        return Fraction(1, self.least)

    @cached_property
    def requirements(self) -> tuple[Required, ...]:
        """All that is required, before and after."""
        before = {
            (one.source, one.verdict.model, one.verdict.column, one.verdict.asked): one.verdict
            for one in self.before.requirements
            if one.measured
        }
        after = self.release.requirements if self.release is not None else self.after.requirements
        return tuple(
            Required(one.source, one.says, before.get((one.source, held.model, held.column, held.asked)), held)
            for one in after
            for held in [one.verdict]
        )

    @property
    def met(self) -> bool:
        """Whether the release meets all that is required, and something is."""
        return bool(self.requirements) and all(one.after.satisfied for one in self.requirements)

    @property
    def quality(self) -> Mapping[str, Measured]:
        """What it cost by each measure; as it was made, if that is known, and else as it can be read."""
        return {**self.comparison.quality, **({} if self.release is None else self.release.quality)}

    @property
    def left_out(self) -> int:
        """How many persons are not in the release."""
        return self.before.persons - self.after.persons if self.release is None else self.release.suppressed

    @property
    def who(self) -> str:
        """What is counted: persons, or records that are taken for them."""
        return "persons" if self.before.counts_persons else "records"

    def columns(self, role: Role) -> tuple[str, ...]:
        """Return the columns of the original that have a role."""
        return self.original.with_role(role)


def of_release(release: Release, progress: Hook, **more: Any) -> Findings:
    """Gather what there is to know about a release that was made here."""
    policy, original = release.policy, release.given
    progress(Progress("assessing the original", 0))
    before = assess(original, policy, threshold=_threshold(policy))
    progress(Progress("assessing the release", 1))
    seen = with_persons(release.table, release.table, release.original)
    after = assess(
        seen,
        _rest(policy, {}),
        missing=policy.data.missing,
        threshold=_threshold(policy),
        population=release.original.population,
    )
    progress(Progress("comparing them", 2))
    return Findings(policy, original, release.table, seen, before, after, compare(original, release), release, **more)


def of_tables(original: Any, released: Any, policy: Policy, progress: Hook, **more: Any) -> Findings:
    """Gather what there is to know about a table that somebody else has made from an original."""
    table = policy.apply(original) if isinstance(original, Table) else policy.read(original)
    made = released if isinstance(released, Table) else read(released, suppressed=SUPPRESSED)
    lacking = [name for name in table.quasi if name not in made]
    progress(Progress("assessing the original", 0))
    before = assess(table, policy, threshold=_threshold(policy))
    if len(lacking) == len(table.quasi):
        raise ReportError(
            "The release has none of the quasi-identifiers that the policy names.",
            hint="Check that it was made from this original, and that its columns have the same names.",
        )
    progress(Progress("assessing the release", 1))
    roles = {
        name: said if said.role is Role.SENSITIVE else ColumnPolicy(role=said.role)
        for name, said in policy.columns.items()
        if name in made
    }
    whose = table.subject if table.subject in made else None
    seen = made if whose is None else made.assign(subject=whose)
    after = assess(seen, _rest(policy, roles), subject=whose, threshold=_threshold(policy))
    progress(Progress("comparing them", 2))
    return Findings(policy, table, made, seen, before, after, compare(table, made, policy), None, **more)


def _threshold(policy: Policy) -> Fraction:
    """Return the risk above which persons are counted: that of the k that is required."""
    asked = [getattr(model, "k", None) for _, _, model in policy.requirements()]
    return Fraction(1, max([one for one in asked if isinstance(one, int)], default=USUAL))


def _rest(policy: Policy, roles: Mapping[str, ColumnPolicy]) -> Policy:
    """Return what a policy says about a released table: hierarchies are about values that it has no longer.

    A register is about such values, too; requirements that need either are not judged again.
    """
    sized = policy.population if policy.population is not None and policy.population.file is None else None
    return policy.model_copy(
        update={
            "data": Data(missing=policy.data.missing),
            "columns": dict(roles),
            "require": [one for one in policy.require if _again(one)] if roles else [],
            "population": sized,
        }
    )


def _again(asked: Any) -> bool:
    """Tell whether a requirement can be judged by a released table alone."""
    if isinstance(asked, PresetRequirement):
        models = [one.requirement() for one in PRESETS[asked.preset].criteria]
    else:
        models = [asked]
    return not any({Need.POPULATION, Need.REGISTER, Need.HIERARCHY} & model.needs for model in models)
