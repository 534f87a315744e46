"""Identification of columns: a proposed role for each, with reasons, for the data owner to decide upon."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.links import Link, Way, links
from shoal.classes.classes import Classes
from shoal.errors import ModelError, did_you_mean
from shoal.identification.concepts import Concept
from shoal.identification.contribution import Key, ShapleyValues, contribution, rows_of
from shoal.identification.finding import Finding
from shoal.identification.g_distinct import ALPHA, BETA, MOST_MISSING, GDistinct, g_distinct, risk_rate
from shoal.identification.hipaa import Item, checklist
from shoal.identification.proposal import Confidence, Proposal, proposal, rated
from shoal.identification.purpose import DEFAULT, purpose_of
from shoal.identification.seen import Seen
from shoal.identification.separation import separating
from shoal.identification.starter import question, starter
from shoal.identification.structure import by_structure
from shoal.identification.subject import subject_of
from shoal.kernels.subsets import Rows
from shoal.policy.policy import Policy
from shoal.progress import Hook, Progress
from shoal.remedy import Option
from shoal.risk.distinction import distinction, separated, separation
from shoal.sheet import Presentable, Sheet
from shoal.table.frames import of_rows
from shoal.table.role import Role
from shoal.table.scale import scale
from shoal.table.table import Table
from shoal.words import counted

METHODS = ("evidence", "g-distinct")
CONTRIBUTION = (
    "Contribution (pp): average increase in the share of unique individuals, in percentage points, if the column is "
    "known in addition to others."
)
HEADINGS = ("column", "role", "confidence", "reasons and remarks", "contribution (pp)")
_MANY = 0.9  # share of the individuals that a key must make unique
KEYS = 10  # maximum number of smallest keys that are reported


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Presentable):
    """Proposed roles of the columns of a table, with the evidence.

    ``columns``: the finding for each column, by name. ``contribution``: the contribution of each column to uniqueness.
    ``keys``: the first ten of ``key_number`` smallest keys. ``links``: dependent columns. ``hipaa``: the list of HIPAA
    identifiers. ``rates``: the risk rates, if they determined the roles; columns without a rate because of missing
    values are not among ``columns``.
    """

    __module__ = "shoal"

    table: Table
    columns: Mapping[str, Finding]
    contribution: ShapleyValues | None
    keys: tuple[Key, ...]
    links: tuple[Link, ...]
    hipaa: tuple[Item, ...]
    rates: GDistinct | None = None
    key_number: int = 0

    def of_role(self, role: Role) -> tuple[str, ...]:
        """Return the columns with a proposed role."""
        return tuple(name for name, finding in self.columns.items() if finding.role is role)

    @property
    def subject(self) -> str | None:
        """The subject column, which identifies the individual of a record, if there is one."""
        return next(iter(self.of_role(Role.SUBJECT)), None)

    @property
    def unrecognised(self) -> tuple[str, ...]:
        """The columns whose proposed role is only what columns with such values usually have."""
        return tuple(name for name, finding in self.columns.items() if finding.confidence is Confidence.LOW)

    @property
    def question(self) -> str | None:
        """The question that the owner has to answer about the unrecognised columns; None if there are none."""
        return question(self.unrecognised)

    def starter(
        self, name: str = "the table", options: Mapping[str, Any] | None = None, *, purpose: str = DEFAULT
    ) -> str:
        """Return a commented starter policy.

        ``name``: the source of the table; ``options``: its reading options. ``purpose``: "public", "controlled" or
        "internal", which determines the requirements, the suppression limit and some roles.
        """
        return starter(self.table, self.columns, name, options, purpose_of(purpose))

    def policy(self, *, purpose: str = DEFAULT) -> Policy:
        """Return the starter policy for a purpose: "public", "controlled" or "internal"."""
        return Policy.parse(self.starter(purpose=purpose))

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain data, as printed by ``shoal identify --json``."""
        parts = self.contribution
        return {
            "records": self.table.records,
            "subject": self.subject,
            "columns": {name: finding.to_dict() for name, finding in self.columns.items()},
            "unique_by_number_of_columns": [] if parts is None else list(parts.by_number),
            "orders": None if parts is None else parts.orders,
            "keys": [asdict(key) for key in self.keys],
            "key_number": self.key_number,
            "links": [{"way": link.way, "columns": list(link.columns), "told": link.told} for link in self.links],
            "hipaa": [asdict(item) for item in self.hipaa],
            "rates": None if self.rates is None else self.rates.to_dict(),
        }

    def to_frame(self, kind: str | None = None) -> Any:
        """Return one row for each column: its role and the evidence."""
        rows = [{"column": name, **finding.to_dict()} for name, finding in self.columns.items()]
        return of_rows(
            [
                {
                    **row,
                    "role": str(row["role"]),
                    "confidence": str(row["confidence"]),
                    "reasons": " ".join(row["reasons"]),
                }
                for row in rows
            ],
            kind,
        )

    def sheet(self) -> Sheet:
        """Return the proposed role of each column, with reasons."""
        rows = tuple(
            (column.name, column.role.value, column.confidence.value, " ".join(column.reasons), column.points)
            for column in self.columns.values()
        )
        title = f"{counted(len(rows), 'column')}, {counted(self.table.records, 'record')}"
        notes = (CONTRIBUTION, self.question) if self.question else (CONTRIBUTION,)
        return Sheet(title, HEADINGS, rows, notes, words=4)


def identified(  # noqa: PLR0913 - keyword-only options
    table: Table,
    *,
    subject: str | None,
    direct: Sequence[str],
    method: str,
    alpha: float,
    beta: float,
    compat: str | None,
    combinations: bool,
    orders: int | None,
    seed: int,
    progress: Hook,
) -> Identification:
    """Propose a role for each column of a table; the options are those of :func:`shoal.identify`."""
    _check(method, alpha, beta, compat, seed)
    known = {table[name].name for name in (*direct, *table.with_role(Role.DIRECT))}
    progress(Progress("looking at columns", 0))
    rates = None
    if method != "evidence":
        rates = g_distinct(table, alpha=alpha, beta=beta, direct=sorted(known), compat=compat)
    whose = _whose(table, subject, known, look=compat is None)
    seen = {name: Seen(table, name, whose, name in known) for name in table.names}
    proposals = _single(by_structure(seen, {name: proposal(seen_column) for name, seen_column in seen.items()}))
    if rates is not None:
        proposals = {
            name: rated(rates, name, proposal) for name, proposal in proposals.items() if name not in rates.excluded
        }
        seen = {name: seen[name] for name in proposals}
    counted = _counted(table, proposals) if combinations and table.records else []
    together = links(table, counted, seed=seed)
    proposals = proposals if rates is not None else _same_as_quasi(proposals, together)
    persons = _persons(table, whose)
    rows = rows_of(persons, counted) if counted else None
    parts = None if rows is None else contribution(rows, counted, orders=orders, seed=seed, progress=progress)
    findings = {
        name: _finding(seen_column, proposals[name], parts, together, persons) for name, seen_column in seen.items()
    }
    for name, leader in _leaders(table, findings, together).items():
        findings[name] = replace(findings[name], follows=leader)
    keys = [] if parts is None or rows is None else _keys(parts, rows, seed)
    return Identification(
        table,
        findings,
        parts,
        tuple(_told_apart(key, persons) for key in keys[:KEYS]),
        tuple(together),
        checklist({name: finding.hipaa for name, finding in findings.items()}),
        rates,
        len(keys),
    )


def _check(method: str, alpha: float, beta: float, compat: str | None, seed: int) -> None:
    if method not in METHODS:
        raise ModelError(
            "unknown-method",
            "There is no method '{method}'.",
            remedy=did_you_mean(method, METHODS) or "Available: {methods}.",
            method=method,
            methods=", ".join(METHODS),
        )
    if method == "evidence" and (compat is not None or (alpha, beta) != (ALPHA, BETA)):
        raise ModelError(
            "option-of-method",
            "α, β and the compatibility mode apply to the method g-distinct only.",
            remedy=Option("method", "g-distinct"),
        )
    if seed < 0:
        raise ModelError("negative-seed", "The seed must not be negative.")


def _whose(table: Table, subject: str | None, direct: set[str], *, look: bool) -> str | None:
    """Return the subject column: the given one, that of the table, or one that is recognised."""
    if subject is not None:
        return table[subject].name
    if table.subject is not None:
        return table.subject
    return subject_of(table, direct) if look else None


def _persons(table: Table, whose: str | None) -> Table:
    """Return the table without its roles, but with its subject if every record has one."""
    plain = replace(table, roles={})
    return plain if whose is None or table[whose].missing else plain.assign(subject=whose)


def _keys(parts: ShapleyValues, rows: Rows, seed: int) -> list[Key]:
    """Return the smallest keys, or a single key found greedily if not every subset was counted."""
    if parts.exact:
        return [key for key in parts.keys(_MANY) if key.columns]
    key = separating(parts.names, rows, seed=seed)
    return [] if key is None or not key.columns else [key]


def _told_apart(key: Key, table: Table) -> Key:
    classes = Classes.of(table, key.columns)
    return replace(key, distinction=float(distinction(classes)), separation=float(separation(classes)))


def _same_as_quasi(proposals: Mapping[str, Proposal], together: Sequence[Link]) -> dict[str, Proposal]:
    """Make columns quasi-identifiers that are equivalent to one: their values would undo its generalisation."""
    same_as_quasi = dict(proposals)
    for link in together:
        if link.way is Way.COMPUTED or not link.both:
            continue
        for first, other in ((link.columns[0], link.told), (link.told, link.columns[0])):
            if same_as_quasi[first].role is Role.QUASI and same_as_quasi[other].role in {
                Role.SENSITIVE,
                Role.INSENSITIVE,
            }:
                reasons = (*same_as_quasi[other].reasons, f"Determines {first} and is determined by it.")
                same_as_quasi[other] = replace(same_as_quasi[other], role=Role.QUASI, reasons=reasons)
    return same_as_quasi


def _single(proposals: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Give a role that only one column can have to the first of the candidates with most confidence.

    The others become direct identifiers.
    """
    chosen: dict[Role, str] = {}
    for name, proposed in sorted(proposals.items(), key=lambda entry: list(Confidence).index(entry[1].confidence)):
        chosen.setdefault(proposed.role, name)
    return {
        name: replace(proposed, role=Role.DIRECT)
        if proposed.role.single and chosen[proposed.role] != name
        else proposed
        for name, proposed in proposals.items()
    }


def _counted(table: Table, proposals: Mapping[str, Proposal]) -> list[str]:
    """Return the columns that may be known in combination: no direct identifiers, and no constants."""
    roles = {Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE}
    return [name for name, proposal in proposals.items() if proposal.role in roles and table[name].size > 1]


def _finding(
    seen: Seen, proposal: Proposal, parts: ShapleyValues | None, together: Sequence[Link], persons: Table
) -> Finding:
    counts = seen.counts[seen.counts > 0]
    share = None if parts is None else parts.shares.get(seen.name)
    apart, teller = _apart(seen, counts, persons), _teller(seen.name, together)
    return Finding(
        seen.name,
        proposal.role,
        (*proposal.reasons, *_more(seen, proposal, teller)),
        proposal.concept,
        seen.shape,
        seen.missing,
        *apart,
        risk_rate(counts),
        share,
        None if parts is None else parts.errors.get(seen.name),
        None if teller is None else teller.columns[0],
        hipaa=_letter(seen, proposal.concept),
        confidence=proposal.confidence,
    )


def _letter(seen: Seen, concept: Concept | None) -> str | None:
    """Return the letter of the HIPAA identifier in a column; None for ages that are all known to be at most 89."""
    if concept is None or concept.hipaa_above is None:
        return None if concept is None else concept.hipaa
    places = scale(seen.table[seen.name])
    ages = None if places is None else places[(seen.counts > 0) & ~np.isnan(places)]
    return None if ages is not None and len(ages) and ages.max() <= concept.hipaa_above else concept.hipaa


def _more(seen: Seen, proposal: Proposal, teller: Link | None) -> list[str]:
    """Return further reasons to report about a column."""
    reasons = []
    if proposal.concept is not None and proposal.concept.known is not None and proposal.role is Role.QUASI:
        reasons.append(f"May be known to {proposal.concept.known}.")
    if seen.missing > MOST_MISSING:
        reasons.append(f"{floor(1000 * seen.missing) / 10:g}% missing.")
    if teller is not None:
        nearly = "Nearly determined" if teller.way is Way.NEAR else "Determined"
        reasons.append(f"{nearly} by {teller.columns[0]}.")
    return reasons


def _apart(seen: Seen, counts: NDArray[np.int64], persons: Table) -> tuple[float, float]:
    """Return the distinction and separation of a column: over persons if the subject is known, else over records."""
    whose = persons.subject
    if whose is None or whose == seen.name or len(persons[whose].values) == persons.records:
        records = max(seen.table.records, 1)
        return len(counts) / records, float(separated(counts, np.ones_like(counts), seen.table.records))
    classes = Classes.of(persons, [seen.name])
    return float(distinction(classes)), float(separation(classes))


def _leaders(table: Table, findings: Mapping[str, Finding], together: Sequence[Link]) -> dict[str, str]:
    """Return the quasi-identifiers that are equivalent to another, with the first of the equivalent columns.

    A column with missing values follows no other: where a value is missing, no value could be shown for a whole class.
    """
    quasi = {name for name, finding in findings.items() if finding.role is Role.QUASI}
    leaders: dict[str, str] = {}
    for link in together:
        leader = leaders.get(link.columns[0], link.columns[0])
        if (
            link.both
            and leader in quasi
            and link.told in quasi
            and link.told != leader
            and not table[link.told].missing
        ):
            leaders.setdefault(link.told, leader)
    return leaders


def _teller(name: str, together: Sequence[Link]) -> Link | None:
    """Return the dependency on a single column that determines or nearly determines this one, if there is one."""
    return next((link for link in together if link.told == name and link.way is not Way.COMPUTED), None)
