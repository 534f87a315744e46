"""Findings: all results about a release, collected for the report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.analyses.comparison import Comparison
from shoal.analyses.learning import Learned
from shoal.analyses.regression import Regressed
from shoal.analyses.survival import Curves
from shoal.analyses.technique_comparison import TechniqueComparison
from shoal.attacks.battery import Attacked
from shoal.disclosure import USUAL
from shoal.individuals.people import People
from shoal.policy.policy import Policy
from shoal.policy.requirements import AttackLimit
from shoal.population import Population
from shoal.qualities.quality import Measured
from shoal.release.advice import Advice
from shoal.release.columns import as_written
from shoal.release.part import ReleasePart
from shoal.release.published import figures
from shoal.release.visible import VisibleLoss, visible_loss
from shoal.reporting.required import Required
from shoal.reporting.split_findings import SplitFindings
from shoal.risk.assessment import Assessment, Assessor
from shoal.search.frontier import Frontier
from shoal.search.schemes import Schemes
from shoal.table.column import Column, as_text
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.verbs.assess import assess

Analysis: TypeAlias = Learned | Regressed | Sequence[Curves]


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """Number of records, and of real persons (without counterfeits), per value of a released column."""

    records: NDArray[np.intp]
    persons: NDArray[np.intp]


@dataclass(frozen=True, eq=False, kw_only=True)
class PublicFindings:
    """Facts that a recipient of the release may have: functions of the released table, the policy and ``chosen``.

    ``single``: whether each individual has one record, so that individuals can be counted without a subject column.
    ``seen``: the released table as it is read. Quasi-identifiers whose values are drawn at random do not count as such
    in it. ``after``: its assessment; for the owner, with the true values of perturbed columns; None if there are no
    classes, because all quasi-identifiers are drawn. ``variables``: the columns that the policy or the release names,
    and their roles. ``naming``: released columns that identify persons directly. ``unknown``: released columns without
    a role in the policy. ``ours``: whether ``anonymize`` made the release. ``chosen``: the figures about the original
    that the owner publishes. ``attacks``: None if not run or not published. ``split``: the tables of
    a release in several tables, which ``released`` joins.
    """

    policy: Policy
    released: Table
    seen: Table
    after: Assessment | None
    requirements: tuple[Required, ...]
    variables: Mapping[str, Role | None]
    naming: tuple[str, ...]
    unknown: tuple[str, ...]
    ours: bool
    single: bool = False
    pseudonyms: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()
    chosen: Mapping[str, Any] = field(default_factory=dict)
    attacks: Attacked | None = None
    split: SplitFindings | None = None

    @property
    def own_columns(self) -> tuple[str, ...]:
        """The released columns of the table itself, without those that its records inherit."""
        return tuple(name for name in self.released.names if name not in self.inherited)

    @property
    def by_table(self) -> Mapping[str, "PublicFindings"]:
        """The findings of each table; a single table has no name."""
        return {"": self}

    @property
    def least(self) -> int:
        """The largest required k, or 11 if none is required."""
        return self.policy.k or USUAL

    @property
    def threshold(self) -> Fraction:
        """The largest acceptable risk: 1 / ``least``."""
        return Fraction(1, self.least)

    @property
    def met(self) -> bool:
        """Whether there are requirements, all are met, and no column identifies persons or is unknown."""
        required = bool(self.requirements) and all(requirement.holds for requirement in self.requirements)
        return required and not self.naming and not self.unknown

    @property
    def drawn_quasi(self) -> tuple[str, ...]:
        """The released quasi-identifiers whose values are drawn at random, so that classes do not use them."""
        known = (name for name, role in self.variables.items() if role is Role.QUASI)
        return tuple(name for name in known if name in self.released and name not in self.released.quasi)

    @property
    def risks(self) -> Assessment | None:
        """The assessment of the release, if classes describe the risk: no quasi-identifier is drawn at random."""
        return None if self.drawn_quasi else self.after

    @property
    def without_drawn(self) -> str:
        """A sentence on the quasi-identifiers that classes do not use; empty if they use all."""
        if not self.drawn_quasi:
            return ""
        limits = ", ".join(limit.attack for limit in self.policy.attack_limits)
        measured = f"; attacks measure their protection: {limits}" if limits else ""
        return (
            f"Classes do not include the quasi-identifiers whose values are drawn at random "
            f"({', '.join(self.drawn_quasi)}), so they say nothing about the risk{measured}."
        )

    @property
    def without_classes(self) -> str:
        """A sentence on why there are no classes, or what they do not include; empty if they describe the risk."""
        if self.split is not None and self.split.divides_identities:
            return "The quasi-identifiers are in several tables, so that there are no equivalence classes."
        return self.without_drawn

    @property
    def counts_persons(self) -> bool:
        """Whether the policy names a column that identifies the person of a record."""
        return self.policy.data.subject is not None

    @property
    def uncountable(self) -> str:
        """The reason why the persons of a class cannot be counted in the released table; empty if they can."""
        if self.counts_persons and self.seen.subject is None and not self.single:
            return "The release has no column that identifies the individual of a record."
        if self.ours and self.policy.search.way.adds_records:
            return "Some of the released records may be counterfeits."
        return ""

    @property
    def countable(self) -> bool:
        """Whether the persons of a class can be counted in the released table."""
        return not self.uncountable

    @property
    def who(self) -> str:
        """The unit of counts: individuals, or records where each record stands for a person."""
        return "individuals" if self.counts_persons else "records"

    def with_role(self, *roles: Role) -> list[str]:
        """Return the variables with one of the given roles."""
        return [name for name, role in self.variables.items() if role in roles]

    @cached_property
    def visible(self) -> VisibleLoss:
        """The information loss that a recipient can compute."""
        return visible_loss(self.released, self.policy)

    @cached_property
    def persons(self) -> int:
        """The number of persons in the release, without counterfeits where these are known."""
        return _persons(self.seen, self.real)

    @cached_property
    def real(self) -> NDArray[np.bool_]:
        """Mask of the released records that are not counterfeits, as far as that is known."""
        return np.ones(self.released.records, bool)

    @cached_property
    def counts(self) -> Mapping[str, ValueCounts]:
        """The frequency of each value of each released column."""
        return {name: self._counts(name) for name in self.released.names}

    def holders(self, name: str, values: NDArray[np.bool_]) -> int:
        """Count the persons with one of the given values of a column."""
        return _persons(self.seen, self.real & values[self.seen.codes(name)])

    def _counts(self, name: str) -> ValueCounts:
        apart = None if self.split is None else self.split.holding(name)
        if apart is not None and not isinstance(self, Findings):  # a recipient has no other count of its values
            records = apart.counts(name)
            return ValueCounts(records, records if self.countable else np.minimum(records, 1))
        seen, size = self.seen, self.seen[name].size
        codes = seen.codes(name)
        records = np.bincount(codes, minlength=size)
        if not self.countable:  # all records may belong to one person
            return ValueCounts(records, np.minimum(records, 1))
        if seen.subject is None:
            return ValueCounts(records, np.bincount(codes[self.real], minlength=size))
        if self.real.all():
            return ValueCounts(records, np.asarray(seen.persons(name), np.intp))
        number = seen[seen.subject].size
        pairs = np.unique(codes[self.real].astype(np.int64) * number + seen.codes(seen.subject)[self.real]) // number
        return ValueCounts(records, np.bincount(pairs, minlength=size))


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings(PublicFindings):
    """All facts about a release, for the owner of the data.

    ``drawn``: the records of the original from which the release is made: all, unless a sample was drawn.
    ``before``: the assessment of the original. ``part``: None if the release was not made by ``anonymize``.
    Other results are None or empty if they were not computed.
    """

    original: Table
    drawn: Table
    before: Assessment
    comparison: Comparison
    part: ReleasePart | None = None
    people: People | None = None
    frontier: Frontier | None = None
    schemes: Schemes | None = None
    techniques: TechniqueComparison | None = None
    analyses: tuple[Analysis, ...] = ()
    advice: Advice | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the original and of the policy, which a report must not overwrite."""
        return (*self.original.source.files, *self.policy.files())

    @property
    def quality(self) -> Mapping[str, Measured]:
        """The quality measures of the release."""
        return self.comparison.quality

    @cached_property
    def real(self) -> NDArray[np.bool_]:
        """Mask of the released records that are not counterfeits."""
        if self.part is None:
            return np.ones(self.released.records, bool)
        return np.asarray(self.part.records >= 0)

    @property
    def countable(self) -> bool:
        """Whether the persons of a class can be counted; the owner knows the counterfeits."""
        return self.seen.subject is not None or not self.counts_persons

    @cached_property
    def left_out(self) -> int:
        """The number of suppressed persons, among those drawn."""
        return max(_persons(self.drawn) - self.persons, 0)

    def public(self) -> PublicFindings:
        """Return the findings without the original, recomputed from the released table and the policy.

        The outcomes of the requirements, the columns that identify persons or have no role, and the figures that the
        policy publishes are carried over. Where the policy names a register, or the release may contain counterfeits,
        a recipient does not know the population of the adversary. The journalist risk is then bounded by the
        prosecutor risk.
        """
        seen, publish = as_read(self.released), self.policy.publish
        published = publish is not None and publish.attacks
        is_told = published and self.attacks is not None
        split = None if self.split is None else self.split.public(attacks=is_told)
        listed = {name: self.policy.columns[name].role for name in self.policy.columns}
        whose = {getattr(self.policy.data, role): role for role in (Role.SUBJECT, Role.HOUSEHOLD, Role.WEIGHT)}
        roles = {**listed, **{name: role for name, role in whose.items() if name is not None}}
        others: dict[str, Role | None] = {name: None for name in self.released.names if name not in roles}
        return PublicFindings(
            policy=self.policy,
            released=self.released,
            seen=seen,
            after=by_buckets(assessed(seen, self.policy, _public_size(self.policy, seen)), split),
            requirements=tuple(requirement.public() for requirement in self.requirements),
            variables={**roles, **others},
            naming=self.naming,
            unknown=self.unknown,
            ours=self.ours,
            single=self.original.person_count == self.original.records,
            pseudonyms=self.pseudonyms,
            inherited=self.inherited,
            chosen=figures(self.policy, self.left_out, self.original),
            attacks=self.attacks if published else None,
            split=split,
        )


def as_read(released: Table) -> Table:
    """Return a released table as a recipient reads it, with its roles."""
    subject = {} if released.subject is None else {"subject": released.subject}
    plain = replace(as_written(released), roles={})
    return plain.assign(quasi=list(released.quasi), sensitive=list(released.sensitive), **subject)


def _public_size(policy: Policy, seen: Table) -> Population | None:
    """Return the population of a release if the policy gives its size or the sampling fraction, otherwise None."""
    population = policy.population
    if population is None or population.file is not None or policy.search.way.adds_records:
        return None
    return policy.sampled_population(seen, _persons(seen))


def _persons(table: Table, some: NDArray[np.bool_] | None = None) -> int:
    if table.subject is None:
        return table.records if some is None else int(np.count_nonzero(some))
    codes = table.codes(table.subject)
    return len(np.unique(codes if some is None else codes[some]))


def _share_values(first: Column, two: Column) -> bool:
    """Return whether two columns have a value in common."""
    return bool(pc.any(pc.is_in(as_text(two.values), as_text(first.values))).as_py())


def by_buckets(assessment: Assessment | None, split: SplitFindings | None) -> Assessment | None:
    """Return an assessment in which sensitive values are inferred from buckets, if the release has several tables.

    There are no classes if the quasi-identifiers are in several tables.
    """
    if assessment is None or split is None:
        return assessment
    return None if split.divides_identities else replace(assessment, attributes=split.attributes)


def about_columns(policy: Policy, original: Table, released: Table, *, ours: bool) -> dict[str, Any]:
    """Return the variables of an original, and the released columns that identify persons or have no role."""
    keyed = () if policy.pseudonyms is None else tuple(policy.pseudonyms.columns)
    direct = [name for name in original.with_role(Role.DIRECT) if name in released and not (ours and name in keyed)]
    others = [*original.with_role(Role.SUBJECT), *original.with_role(Role.HOUSEHOLD)]
    same = [name for name in others if name in released and _share_values(original[name], released[name])]
    return {
        "variables": {name: original.roles.get(name) for name in original.names},
        "naming": (*(name for name in direct if len(released[name].values)), *same),
        "unknown": tuple(name for name in released.names if name not in original.roles),
        "pseudonyms": keyed,
    }


def of_original(original: Table, policy: Policy) -> Assessment:
    """Assess an original, without what the policy says about releases only: random draws and limits for attacks."""
    undrawn = {name: policy.columns[name].model_copy(update={"perturb": None}) for name in policy.drawn}
    columns = {**policy.columns, **undrawn}
    asked = [asked for asked in policy.require if not isinstance(asked, AttackLimit)]
    judged = policy.model_copy(update={"columns": columns, "require": asked})
    return assess(original, judged, threshold=threshold(policy))


def assessed(released: Table, policy: Policy, population: Population | None) -> Assessment | None:
    """Assess a released table, without the requirements: hierarchies refer to the original values.

    Without quasi-identifiers there is nothing to assess.
    """
    if not released.quasi:
        return None
    context = policy.context
    return Assessor(
        table=released,
        missing=policy.data.missing,
        threshold=threshold(policy),
        population=population,
        context=None if context is None else context.probabilities(),
    ).assessment()


def threshold(policy: Policy) -> Fraction:
    """Return the risk threshold: 1/k for the largest required k, or 1/11 if none is required."""
    return Fraction(1, policy.k or USUAL)
