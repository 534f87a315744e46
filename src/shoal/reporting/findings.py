"""Findings: all that was found out about a release, gathered for the report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.analyses.learning import Learned
from shoal.analyses.regression import Regressed
from shoal.analyses.survival import Curves
from shoal.assessment import Assessment, assess
from shoal.battery import Attacked
from shoal.comparison import Comparison, compare
from shoal.disclosure import USUAL
from shoal.individuals.people import People
from shoal.models.model import Verdict
from shoal.policy.columns import Data
from shoal.policy.policy import Policy
from shoal.progress import Hook, Progress
from shoal.qualities.quality import Measured
from shoal.release.release import Release
from shoal.release.sampling import taken
from shoal.release.verification import as_written, with_persons
from shoal.search.frontier import Frontier
from shoal.search.schemes import Schemes
from shoal.table.column import Column, as_text
from shoal.table.role import Role
from shoal.table.table import Table

Analysis: TypeAlias = Learned | Regressed | Sequence[Curves]


@dataclass(frozen=True, slots=True)
class Required:
    """A requirement: who asks for it, what it says, and how the original and the release fare.

    ``after``: None if it could not be judged, and ``why`` not. ``moot``: there is nothing in the release that it is
    about.
    """

    source: str
    title: str
    asked: str
    before: Verdict | None
    after: Verdict | None
    why: str = ""
    moot: bool = False

    @property
    def holds(self) -> bool:
        """Whether it is met, for sure."""
        return self.moot or (self.after is not None and self.after.satisfied)


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """How many records, and how many persons who exist, have each value of a released column."""

    records: NDArray[np.intp]
    persons: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Findings:
    """``release``: what ``anonymize`` returned, None if somebody else made the released table.

    ``drawn``: the records of the original that the release is made of: all, unless a sample was drawn. ``seen``: the
    released table, with whose record each is, if that is known. ``before``, ``after``: their assessments. What is None
    was not looked at.
    """

    policy: Policy
    original: Table
    drawn: Table
    released: Table
    seen: Table
    before: Assessment
    after: Assessment
    comparison: Comparison
    requirements: tuple[Required, ...]
    release: Release | None = None
    attacks: Attacked | None = None
    people: People | None = None
    frontier: Frontier | None = None
    schemes: Schemes | None = None
    analyses: tuple[Analysis, ...] = ()

    @property
    def least(self) -> int:
        """The largest k that is required."""
        return self.policy.k or USUAL

    @property
    def threshold(self) -> Fraction:
        """The risk that is the largest that may be."""
        return Fraction(1, self.least)

    @cached_property
    def naming(self) -> tuple[str, ...]:
        """Released columns that name persons: direct identifiers, whatever they hold, and numbers of the original."""
        keyed = [] if self.policy.pseudonyms is None or self.release is None else self.policy.pseudonyms.columns
        direct = [name for name in self.original.with_role(Role.DIRECT) if name in self.released and name not in keyed]
        others = [*self.original.with_role(Role.SUBJECT), *self.original.with_role(Role.HOUSEHOLD)]
        same = [
            name for name in others if name in self.released and _share_values(self.original[name], self.released[name])
        ]
        return (*(name for name in direct if len(self.released[name].values)), *same)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Released columns that the policy says nothing about."""
        return tuple(name for name in self.released.names if name not in self.original.roles)

    @property
    def met(self) -> bool:
        """Whether the release meets all that is required, and something is; names nobody, and has nothing unknown."""
        required = bool(self.requirements) and all(one.holds for one in self.requirements)
        return required and not self.naming and not self.unknown

    @property
    def quality(self) -> Mapping[str, Measured]:
        """What it cost by each measure, as whoever reads the release finds it."""
        return self.comparison.quality

    @cached_property
    def persons(self) -> int:
        """How many persons are in the release; who was invented is none."""
        return _persons(self.seen, self.real)

    @cached_property
    def real(self) -> NDArray[np.bool_]:
        """Which released records are somebody's, and not invented."""
        if self.release is None:
            return np.ones(self.released.records, bool)
        return np.asarray(self.release.records >= 0)

    @cached_property
    def left_out(self) -> int:
        """How many persons of those who were drawn are not in the release."""
        return max(_persons(self.drawn) - self.persons, 0)

    @property
    def who(self) -> str:
        """What is counted: persons, or records that are taken for them."""
        return "persons" if self.before.counts_persons else "records"

    @cached_property
    def counts(self) -> Mapping[str, Counts]:
        """How often each value of each released column occurs."""
        return {name: self._counts(name) for name in self.released.names}

    def holders(self, name: str, values: NDArray[np.bool_]) -> int:
        """Count the persons who have one of some values of a column."""
        return _persons(self.seen, self.real & values[self.seen.codes(name)])

    def _counts(self, name: str) -> Counts:
        seen, size = self.seen, self.seen[name].size
        codes = seen.codes(name)
        records = np.bincount(codes, minlength=size)
        if seen.subject is None and self.original.subject is not None:  # all may be of one person
            return Counts(records, np.minimum(records, 1))
        if seen.subject is None:
            return Counts(records, np.bincount(codes[self.real], minlength=size))
        if self.real.all():
            return Counts(records, np.asarray(seen.persons(name), np.intp))
        number = seen[seen.subject].size
        held = np.unique(codes[self.real].astype(np.int64) * number + seen.codes(seen.subject)[self.real]) // number
        return Counts(records, np.bincount(held, minlength=size))


def _persons(table: Table, some: NDArray[np.bool_] | None = None) -> int:
    if table.subject is None:
        return table.records if some is None else int(np.count_nonzero(some))
    codes = table.codes(table.subject)
    return len(np.unique(codes if some is None else codes[some]))


def _share_values(one: Column, two: Column) -> bool:
    """Tell whether two columns have a value in common."""
    return bool(pc.any(pc.is_in(as_text(two.values), as_text(one.values))).as_py())


def of_release(release: Release, progress: Hook, **more: Any) -> Findings:
    """Gather what there is to know about a release that was made here."""
    policy, original = release.policy, release.given
    progress(Progress("assessing the original", 0))
    before = assess(original, policy, threshold=threshold(policy))
    progress(Progress("assessing the release", 1))
    seen = with_persons(as_written(release.table), release.table, release.original)
    invented = bool((release.records < 0).any())
    after = assess(
        seen,
        rest(policy),
        threshold=threshold(policy),
        population=None if invented else release.original.population,  # nobody who was invented is in it
    )
    progress(Progress("comparing them", 2))
    drawn = release.given if release.drawn is None else taken(release.given, release.drawn)[0]
    judged = {
        (one.source, one.verdict.title, one.verdict.asked): one.verdict for one in before.requirements if one.measured
    }
    required = tuple(
        Required(one.source, held.title, held.asked, judged.get((one.source, held.title, held.asked)), held)
        for one in release.requirements
        for held in [one.verdict]
    )
    found = compare(original, release)
    return Findings(policy, original, drawn, release.table, seen, before, after, found, required, release, **more)


def verdicts(found: Assessment) -> dict[tuple[str, str, str], Verdict]:
    """Return how a table fares, by who asks, for what, and how much of it."""
    judged = [one for one in found.requirements if one.measured]
    return {(one.source, one.verdict.title, one.verdict.asked): one.verdict for one in judged}


def threshold(policy: Policy) -> Fraction:
    """Return the risk above which persons are counted: that of the k that is required."""
    return Fraction(1, policy.k or USUAL)


def rest(policy: Policy) -> Policy:
    """Return what a policy says about any table: roles and hierarchies are about values that were made coarser."""
    more = {"data": Data(missing=policy.data.missing), "columns": {}, "require": [], "population": None}
    return policy.model_copy(update=more)
