"""Advice on a release: what it cost and why, what its other columns still reveal, and what would cost less.

Everything is computed: alternatives are releases that were really made, within a time limit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.identification.also_known import also_known
from shoal.kernels.grouping import group_rows
from shoal.policy.policy import Policy
from shoal.progress import Hook, Progress
from shoal.release.case import Case
from shoal.release.making import released
from shoal.release.release import Release
from shoal.sheet import Presentable, Sheet
from shoal.table.role import Role
from shoal.techniques.outliers import usual_way
from shoal.techniques.technique import TECHNIQUES, Gives, Truth
from shoal.words import counted, share, short

FORCING = 10  # maximum number of records that are named for a column
SHOWN = 5  # maximum number of columns and alternatives in a summary
_UNIQUE = 2  # class size below which individuals are unique, if no class size is required


@dataclass(frozen=True, slots=True)
class LostColumn:
    """What a quasi-identifier lost. ``cost``: its information loss, from 0 to 1.

    ``forced_by``: the number of individuals in classes that would be too small if the column alone were released
    unchanged. ``records``: the original records of up to ten of them, the smallest classes first. For the owner only.
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
    """Another release of the same table. ``change``: what is different; ``cost``: the mean loss of the columns."""

    change: str
    cost: float
    suppressed: int


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Presentable):
    """Advice on a release. ``persons``: the number of released individuals; ``cost``: its mean loss, from 0 to 1.

    ``lost``: the quasi-identifiers, the costliest first. ``revealing``: the other released columns, the most revealing
    first. ``alternatives``: other releases that were made, the cheapest first; ``complete``: whether all were tried in
    time.
    """

    __module__ = "shoal"

    persons: int
    cost: float
    least: int
    lost: tuple[LostColumn, ...]
    revealing: tuple[Revealing, ...]
    alternatives: tuple[Alternative, ...]
    complete: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain data."""
        return {
            "persons": self.persons,
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
                f"'{column.column}' lost {share(column.cost)} of its information: released unchanged, it would put "
                f"{counted(column.forced_by, 'individual')} into classes smaller than {self.least:,}."
            )
        better = [alternative for alternative in self.alternatives if alternative.cost < self.cost][:SHOWN]
        for alternative in better:
            yield (
                f"{alternative.change}: mean loss {short(alternative.cost)} instead of {short(self.cost)} "
                f"(0 = no loss, 1 = total loss)."
            )
        if not self.complete:
            yield (
                "Not all alternatives were tried within the time limit. Other techniques or fewer quasi-identifiers "
                "may cost less."
            )

    def sheet(self) -> Sheet:
        """Return the advice as a table of sentences."""
        return Sheet("Advice", ("advice",), tuple((sentence,) for sentence in self.sentences()), words=1)


class _OutOfTimeError(Exception):
    """The time for alternatives is over."""


def advice(release: Release, seconds: float, progress: Hook) -> Advice:
    """Return the advice on the release of one table; alternatives are tried for at most ``seconds``."""
    least = _least(release.policy)
    lost = sorted((_lost(release, name, least) for name in _quasi(release)), key=lambda column: -column.cost)
    alternatives, complete = _alternatives(release, seconds, progress)
    persons = release.table.person_count
    return Advice(
        persons,
        _cost(release),
        least,
        tuple(lost),
        tuple(_revealing(release)),
        tuple(sorted(alternatives, key=lambda alternative: alternative.cost)),
        complete,
    )


def _quasi(release: Release) -> tuple[str, ...]:
    return tuple(name for name in release.table.quasi if name in release.given)


def _least(policy: Policy) -> int:
    """Return the required class size; 2 if none is required."""
    sizes = [int(size) for _, _, model in policy.requirements() if (size := getattr(model, "k", None))]
    return max(sizes, default=_UNIQUE)


def _column_cost(release: Release, name: str) -> float:
    measured = release.quality.get("loss")
    return measured.columns[name].cost if measured is not None and name in measured.columns else 0.0


def _cost(release: Release, unchanged: str | None = None) -> float:
    """Return the mean loss of the quasi-identifiers, and of a column that is released unchanged."""
    names = [*_quasi(release), *([] if unchanged is None else [unchanged])]
    return float(np.mean([0.0 if name == unchanged else _column_cost(release, name) for name in names])) if names else 0


def _lost(release: Release, name: str, least: int) -> LostColumn:
    """Count the individuals whose classes would be too small if one column alone were released unchanged."""
    table, records = release.table, release.records
    kept = np.flatnonzero(records >= 0)
    others = [column for column in table.quasi if column != name]
    keys = [table.codes(column)[kept] for column in others]
    keys.append(release.given.codes(name)[records[kept]])
    sizes = [*(table[column].size for column in others), release.given[name].size]
    groups = group_rows(keys, sizes, len(kept))
    whose = _persons(release, kept)
    members = np.unique(groups.ids.astype(np.int64) * (int(whose.max(initial=0)) + 1) + whose)
    persons = np.bincount(members // (int(whose.max(initial=0)) + 1), minlength=len(groups))
    small = np.flatnonzero(persons[groups.ids] < least)
    first = small[np.argsort(persons[groups.ids[small]], kind="stable")][:FORCING]
    forced = len(np.unique(whose[small]))
    return LostColumn(name, _column_cost(release, name), forced, tuple(records[kept[first]].tolist()))


def _persons(release: Release, kept: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the individual of each released record; every record is one if there is no subject."""
    given = release.given
    if given.subject is None:
        return np.arange(len(kept), dtype=np.int64)
    return given.codes(given.subject)[release.records[kept]].astype(np.int64)


def _revealing(release: Release) -> list[Revealing]:
    """Count the individuals whom each other released column makes unique together with the quasi-identifiers."""
    table = release.table
    if not table.quasi:
        return []
    names = [name for name in table.names if table.roles.get(name) in {Role.INSENSITIVE, Role.SENSITIVE}]
    known = also_known(table, names, release.policy.data.missing)
    found = [Revealing(row.column, row.unique) for row in known if row.column is not None]
    return sorted(found, key=lambda column: -column.unique)


def _alternatives(release: Release, seconds: float, progress: Hook) -> tuple[list[Alternative], bool]:
    """Make other releases until the time is over; return them, and whether all were made."""
    deadline, made = monotonic() + seconds, list[Alternative]()

    def hook(step: Progress) -> None:
        if monotonic() > deadline:
            raise _OutOfTimeError
        progress(step)

    for change, policy, unchanged in _changes(release):
        try:
            hook(Progress(f"trying: {change}", len(made)))
            other = released(Case.of(release.given, policy), None, hook)
        except _OutOfTimeError:
            return made, False
        except ShoalError:
            continue  # this alternative is not possible
        made.append(Alternative(change, _cost(other, unchanged), other.suppressed))
    return made, True


def _changes(release: Release) -> Iterator[tuple[str, Policy, str | None]]:
    """Yield other policies: with another technique, then with one quasi-identifier fewer."""
    policy, search = release.policy, release.policy.search
    for technique in TECHNIQUES.values():
        alike = technique.truth is Truth.TRUE and Gives.CLASSES in technique.gives
        if alike and technique.called() != search.technique.kind:
            changed = search.model_copy(update={"recoding": technique(), "refine": False, "outliers": usual_way()})  # type: ignore[call-arg]
            yield f"With recoding = {technique.called()}", policy.model_copy(update={"search": changed}), None
    for name in _quasi(release) if len(release.table.quasi) > 1 else ():
        column = policy.columns[name]
        if column.linked is None and not any(other.linked == name for other in policy.columns.values()):
            columns = {**policy.columns, name: column.model_copy(update={"role": Role.INSENSITIVE, "hierarchy": None})}
            changed_search = search.model_copy(
                update={part: _without(getattr(search, part), name) for part in ("weights", "levels")}
            )
            update: dict[str, Any] = {"columns": columns, "search": changed_search}
            yield f"If no adversary can know '{name}' (role insensitive)", policy.model_copy(update=update), name


def _without(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {column: value for column, value in settings.items() if column != name}
