"""Advice on a release: what it cost and why, what its other columns still reveal, and what would cost less.

Everything is computed: alternatives are releases that were really made, within a time limit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.identification.also_known import also_known
from shoal.models.evidence import Gatherer, View
from shoal.models.model import Model, Need, Scope
from shoal.policy.policy import Policy
from shoal.progress import Hook, Progress
from shoal.qualities.loss import Loss
from shoal.qualities.quality import Measured
from shoal.release.case import Case
from shoal.release.columns import as_written
from shoal.release.making import released
from shoal.release.promise import Original
from shoal.release.release import Release
from shoal.release.verification import with_persons
from shoal.sheet import Presentable, Sheet
from shoal.table.raw import Encoded
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.techniques.outliers import usual_way
from shoal.techniques.technique import TECHNIQUES, Gives, Truth
from shoal.words import counted, share, short

MOST_RECORDS = 1_000_000  # larger tables get no advice unasked, because it takes too long
FORCING = 10  # maximum number of records that are named for a column
SHOWN = 5  # maximum number of columns and alternatives in a summary
_QUICK = 10_000_000  # schemes times combinations up to which all alternatives are tried


@dataclass(frozen=True, slots=True)
class LostColumn:
    """What a quasi-identifier lost. ``cost``: its information loss, from 0 to 1.

    ``forced_by``: the number of individuals in classes that would not meet the requirements if the column alone were
    released unchanged. ``records``: the original records of up to ten of them, the smallest classes first. For the
    owner only.
    """

    column: str
    cost: float
    forced_by: int
    records: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Revealing:
    """A released column that is not a quasi-identifier, and the individuals it would make unique if it were known."""

    column: str
    unique: int


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another release of the same table. ``change``: what is different; ``cost``: its information loss, from 0 to 1."""

    change: str
    cost: float
    suppressed: int


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Presentable):
    """Advice on a release.

    ``persons``, ``suppressed``: the numbers of released and of suppressed individuals. ``cost``: the information loss,
    from 0 to 1. ``failing``: the classes that must not be released, in words. ``lost``: the quasi-identifiers, the
    costliest first. ``revealing``: the other released columns, the most revealing first. ``alternatives``: other
    releases that were made, the cheapest first; ``complete``: whether all were tried in time.
    """

    __module__ = "shoal"

    persons: int
    suppressed: int
    cost: float
    failing: str
    lost: tuple[LostColumn, ...]
    revealing: tuple[Revealing, ...]
    alternatives: tuple[Alternative, ...]
    complete: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain data."""
        return {
            "persons": self.persons,
            "suppressed": self.suppressed,
            "cost": self.cost,
            "lost": [asdict(column) for column in self.lost],
            "revealing": [asdict(column) for column in self.revealing],
            "alternatives": [asdict(alternative) for alternative in self.alternatives],
            "complete": self.complete,
        }

    def sentences(self) -> Iterator[str]:
        """Yield the advice in sentences, the most important first."""
        revealing = [column for column in self.revealing if column.unique][:SHOWN]
        if revealing:
            unique = ", ".join(f"{column.column} ({share(column.unique / self.persons)})" for column in revealing)
            yield f"Individuals who become unique if one more released column is known: {unique}."
        for column in [column for column in self.lost if column.cost > 0 and column.forced_by][:SHOWN]:
            yield (
                f"'{column.column}' has an information loss of {short(column.cost)}: released unchanged, it would put "
                f"{counted(column.forced_by, 'individual')} into {self.failing}."
            )
        better = [alternative for alternative in self.alternatives if alternative.cost < self.cost][:SHOWN]
        for alternative in better:
            yield (
                f"{alternative.change}: information loss {short(alternative.cost)} instead of {short(self.cost)} "
                f"(0 = none, 1 = everything)."
            )
        if not self.complete:
            yield (
                "Not all alternatives were tried within the time limit. Other techniques or fewer quasi-identifiers "
                "may cost less."
            )

    def revealing_sheet(self) -> Sheet | None:
        """Return the columns that make individuals unique again, if there are any."""
        rows = [
            (column.column, f"{column.unique:,}", share(column.unique / self.persons))
            for column in self.revealing
            if column.unique
        ]
        title = "Individuals who become unique if one more released column is known"
        return Sheet(title, ("column", "individuals", "share"), tuple(rows), words=1) if rows else None

    def lost_sheet(self) -> Sheet | None:
        """Return the quasi-identifiers that lost information, and the records that force it, if there are any."""
        rows = [
            (
                column.column,
                short(column.cost),
                f"{column.forced_by:,}",
                "; ".join(f"{record + 1:,}" for record in column.records) or "–",
            )
            for column in self.lost
            if column.cost > 0
        ]
        headings = ("column", "loss", f"individuals in {self.failing} if unchanged", "records")
        notes = (
            "Loss: 0 = none, 1 = everything. If unchanged: this column alone is released with its original values.",
            f"Records: up to {FORCING} in the smallest of these classes, by position in the original (1 = first).",
        )
        title = "Why columns were generalised"
        return Sheet(title, headings, tuple(rows), notes, words=1) if rows else None

    def alternatives_sheet(self) -> Sheet | None:
        """Return this release and the other releases that were made; None if there was no time for any."""
        rows = [("This release", short(self.cost), f"{self.suppressed:,}")]
        rows += [(other.change, short(other.cost), f"{other.suppressed:,}") for other in self.alternatives]
        notes = [f"Information loss: {Loss.title}; 0 = none, 1 = everything."]
        if not self.complete:
            notes.append("Not all alternatives were tried within the time limit.")
        elif not self.alternatives:
            notes.append("No other technique and no smaller set of quasi-identifiers gives a release.")
        headings = ("alternative", "information loss", "individuals suppressed")
        return (
            Sheet("Alternatives", headings, tuple(rows), tuple(notes)) if self.alternatives or self.complete else None
        )

    def sheet(self) -> Sheet:
        """Return the advice as a table of sentences."""
        return Sheet("Advice", ("advice",), tuple((sentence,) for sentence in self.sentences()), words=1)


@dataclass(frozen=True, slots=True, eq=False)
class AdviceBasis:
    """What advice is based on: a table before and after anonymisation.

    ``seen``: the released table, with the persons of its records if known. ``original``: what requirements read of the
    original. ``records``: the original record of each released one, −1 for counterfeits; None if unknown.
    ``suppressed``: the number of suppressed individuals. ``losses``: the loss of each quasi-identifier, from 0 to 1.
    """

    given: Table
    seen: Table
    original: Original
    records: NDArray[np.integer] | None
    suppressed: int
    policy: Policy
    losses: Mapping[str, float]

    @classmethod
    def of(cls, release: Release) -> "AdviceBasis":
        """Return the basis of advice on a release."""
        original = release.part.promise.original
        seen = with_persons(as_written(release.table), release.table, original)
        return cls(
            release.given, seen, original, release.records, release.suppressed, release.policy, losses(release.quality)
        )

    @property
    def quasi(self) -> tuple[str, ...]:
        """The released quasi-identifiers of the original."""
        return tuple(name for name in self.seen.quasi if name in self.given)

    def cost(self, *unchanged: str) -> float:
        """Return the information loss of the quasi-identifiers, and of columns that are released unchanged."""
        prices = [*(self.losses.get(name, 0.0) for name in self.quasi), *(0.0 for _ in unchanged)]
        return float(Loss().combined(np.array(prices), np.ones(len(prices)))) if prices else 0.0


def is_advised(original: Table, released: Table) -> bool:
    """Return whether advice is given unasked: there are classes, and the table is not too large."""
    return bool(released.quasi) and original.records <= MOST_RECORDS


def losses(quality: Mapping[str, Measured]) -> dict[str, float]:
    """Return the loss of each column."""
    return {name: score.cost for name, score in quality["loss"].columns.items()} if "loss" in quality else {}


class _OutOfTimeError(Exception):
    """The time for alternatives is over."""


def advice(basis: AdviceBasis, seconds: float | None, progress: Hook) -> Advice:
    """Return advice on the release of one table; alternatives are tried for at most ``seconds``.

    ``seconds``: None to try all alternatives if there are few schemes and combinations, and none otherwise. The advice
    then does not depend on the speed of the machine.
    """
    models = _class_models(basis)
    if seconds is None:
        seconds = inf if _is_quick(basis) else 0
    alternatives, complete = _alternatives(basis, seconds, progress)
    return Advice(
        basis.seen.person_count,
        basis.suppressed,
        basis.cost(),
        _failing_in_words(basis, models),
        tuple(sorted(_lost(basis, models), key=lambda column: -column.cost)),
        tuple(_revealing(basis)),
        tuple(sorted(alternatives, key=lambda alternative: alternative.cost)),
        complete,
    )


def _is_quick(basis: AdviceBasis) -> bool:
    """Return whether all alternatives can be tried in some seconds."""
    space = Case.of(basis.given, basis.policy).space
    return space.schemes * len(basis.given.distinct(space.quasi)) <= _QUICK


def _class_models(basis: AdviceBasis) -> list[Model]:
    """Return the requirements that each class has to meet by itself."""
    seen = basis.seen
    return [
        model
        for _, _, model in basis.policy.requirements()
        if model.scope is Scope.CLASS
        and not model.needs & {Need.SUBSETS, Need.POPULATION, Need.REGISTER}
        and (seen.sensitive or Need.SENSITIVE not in model.needs)
        and all(name in seen for view in model.views(seen.quasi, seen.sensitive) for name in view.sensitive)
    ]


def _failing_in_words(basis: AdviceBasis, models: Sequence[Model]) -> str:
    """Return what individuals are in if their classes do not meet the requirements.

    A model is met by every class that is large ``enough``, if class sizes alone decide.
    """
    evidence = _gatherer(basis, basis.seen).evidence(View(basis.seen.quasi, basis.seen.sensitive))
    sizes = [model.enough(evidence) for model in models]
    if sizes and None not in sizes:
        return f"classes smaller than {max(size for size in sizes if size is not None):,}"
    return "classes that do not meet the requirements"


def _lost(basis: AdviceBasis, models: Sequence[Model]) -> Iterator[LostColumn]:
    """Count the individuals whose classes would fail if one column alone were released unchanged."""
    if basis.records is None or not models:
        return
    kept = np.flatnonzero(basis.records >= 0)
    records = basis.records[kept]
    whose = _persons(basis.given, records)
    for name in (name for name in basis.quasi if _is_changed(basis, name, kept, records)):
        table = _unchanged(basis, name, kept, records)
        sizes, failing = _judged(basis, table, models)
        bad = np.flatnonzero(failing)
        first = bad[np.argsort(sizes[bad], kind="stable")][:FORCING]
        forced = len(np.unique(whose[bad]))
        yield LostColumn(name, basis.losses.get(name, 0.0), forced, tuple(records[first].tolist()))


def _is_changed(basis: AdviceBasis, name: str, kept: NDArray[np.intp], records: NDArray[np.integer]) -> bool:
    """Return whether a released cell of a column differs from its original."""
    before = np.array(basis.given[name].labels().to_pylist(), object)[basis.given.codes(name)[records]]
    after = np.array(basis.seen[name].labels().to_pylist(), object)[basis.seen.codes(name)[kept]]
    return bool((before != after).any())


def _unchanged(basis: AdviceBasis, name: str, kept: NDArray[np.intp], records: NDArray[np.integer]) -> Table:
    """Return the released records, with one column as it is in the original."""
    given, seen = basis.given, basis.seen
    encoded = [
        Encoded(given[name], given.codes(name)[records])
        if column.name == name
        else Encoded(column, seen.codes(column.name)[kept])
        for column in seen.columns
    ]
    table = Table.of(encoded, len(kept), seen.source)
    return table.assign(quasi=list(seen.quasi), sensitive=list(seen.sensitive), subject=seen.subject)


def _judged(basis: AdviceBasis, table: Table, models: Sequence[Model]) -> tuple[NDArray[np.integer], NDArray[np.bool_]]:
    """Return the class size of each record, and whether its class fails a requirement."""
    gatherer = _gatherer(basis, table)
    sizes, failing = np.zeros(table.records, np.int64), np.zeros(table.records, bool)
    for model in models:
        for view in model.views(table.quasi, table.sensitive):
            evidence = gatherer.evidence(view)
            sizes = evidence.classes.of_records(table, evidence.classes.sizes)
            failing |= evidence.classes.of_records(table, model.failing(evidence))
    return sizes, failing


def _gatherer(basis: AdviceBasis, table: Table) -> Gatherer:
    known = basis.original
    return Gatherer(table, known.missing, known.hierarchies, None, known.reference)


def _persons(given: Table, records: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the individual of each record; every record is one if there is no subject."""
    if given.subject is None:
        return np.arange(len(records), dtype=np.int64)
    return np.asarray(given.codes(given.subject)[records], np.int64)


def _revealing(basis: AdviceBasis) -> list[Revealing]:
    """Count the individuals whom each other released column makes unique together with the quasi-identifiers."""
    seen, roles = basis.seen, basis.given.roles
    if not seen.quasi:
        return []
    shown = [name for name in seen.names if name not in basis.policy.perturbed]
    names = [name for name in shown if roles.get(name) in {Role.INSENSITIVE, Role.SENSITIVE}]
    known = also_known(seen, names, basis.policy.data.missing)
    unique = [Revealing(row.column, row.unique) for row in known if row.column is not None]
    return sorted(unique, key=lambda column: -column.unique)


def _alternatives(basis: AdviceBasis, seconds: float, progress: Hook) -> tuple[list[Alternative], bool]:
    """Make other releases until the time is over; return them, and whether all were made."""
    deadline, made = monotonic() + seconds, list[Alternative]()

    def hook(step: Progress) -> None:
        if monotonic() > deadline:
            raise _OutOfTimeError
        progress(step)

    for change, policy, unchanged in _changes(basis):
        try:
            hook(Progress(f"trying: {change}", len(made)))
            other = released(Case.of(basis.given, policy), None, hook)
        except _OutOfTimeError:
            return made, False
        except ShoalError:
            continue  # this alternative is not possible
        made.append(Alternative(change, AdviceBasis.of(other).cost(*unchanged), other.suppressed))
    return made, True


def _changes(basis: AdviceBasis) -> Iterator[tuple[str, Policy, tuple[str, ...]]]:
    """Yield other policies: with another technique, then with one quasi-identifier fewer."""
    policy, search = basis.policy, basis.policy.search
    for technique in TECHNIQUES.values():
        alike = technique.truth is Truth.TRUE and Gives.CLASSES in technique.gives
        if alike and technique.called() != search.technique.kind:
            changed = search.model_copy(update={"recoding": technique(), "refine": False, "outliers": usual_way()})  # type: ignore[call-arg]
            yield technique.says.removesuffix("."), policy.model_copy(update={"search": changed}), ()
    for name in basis.quasi if len(basis.quasi) > 1 else ():
        column = policy.columns[name]
        if column.linked is None and not any(other.linked == name for other in policy.columns.values()):
            columns = {**policy.columns, name: column.model_copy(update={"role": Role.INSENSITIVE, "hierarchy": None})}
            changed_search = search.model_copy(
                update={part: _without(getattr(search, part), name) for part in ("weights", "levels")}
            )
            update: dict[str, Any] = {"columns": columns, "search": changed_search}
            yield f"If no adversary can know '{name}' (role insensitive)", policy.model_copy(update=update), (name,)


def _without(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {column: value for column, value in settings.items() if column != name}
