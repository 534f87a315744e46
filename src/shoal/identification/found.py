"""What was found out about the columns of a table: a role for each with its reasons, for its owner to decide upon."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.classes.classes import Classes
from shoal.errors import ModelError, did_you_mean
from shoal.identification.concepts import Concept
from shoal.identification.contribution import Contribution, Key, contribution, rows_of
from shoal.identification.g_distinct import ALPHA, BETA, GDistinct, g_distinct, risk_rate
from shoal.identification.hipaa import Item, checklist
from shoal.identification.links import Link, Way, links
from shoal.identification.proposal import Proposal, Seen, proposal, rated
from shoal.identification.separation import separating
from shoal.identification.shape import Shape
from shoal.identification.starter import starter
from shoal.policy.policy import Policy
from shoal.progress import Hook, Progress, silent
from shoal.risk.distinction import distinction, separated, separation
from shoal.table.reading import read
from shoal.table.role import Role
from shoal.table.table import Table

METHODS = ("evidence", "g-distinct")
KEYS = 10  # of the smallest keys that are told
_MOSTLY_MISSING = 0.85
_REPEATS = 20  # values that a column needs to be taken for the subject, if the table is not smaller


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What is known about a column.

    ``role`` is proposed, for ``reasons``. ``uniqueness``: the share of people whom the column makes unique, on average
    over all orders in which columns may become known; None if it was not counted; ``error``: the standard error.
    ``distinction``: different values by records. ``separation``: the share of pairs of records that it tells apart.
    ``g_distinct``: the risk rate of Menten 2024, in percent. ``missing``: the share of records without a value.
    ``linked``: another column that tells what is in it. ``follows``: a quasi-identifier that says the same in other
    words, so that this one is to be treated with it.
    """

    name: str
    role: Role
    reasons: tuple[str, ...]
    concept: Concept | None
    shape: Shape
    missing: float
    distinction: float
    separation: float
    g_distinct: float
    uniqueness: float | None = None
    error: float | None = None
    linked: str | None = None
    follows: str | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """Columns by name; what makes people unique; the smallest keys; what belongs together; HIPAA's list.

    ``rates``: the risk rates, if they decided; columns that they leave out are not among the columns.
    """

    table: Table
    columns: Mapping[str, Finding]
    contribution: Contribution | None
    keys: tuple[Key, ...]
    links: tuple[Link, ...]
    hipaa: tuple[Item, ...]
    rates: GDistinct | None = None

    def of_role(self, role: Role) -> tuple[str, ...]:
        """Return the columns that are proposed for a role."""
        return tuple(name for name, finding in self.columns.items() if finding.role is role)

    @property
    def subject(self) -> str | None:
        """The column that says whose record it is, if there is one."""
        return next(iter(self.of_role(Role.SUBJECT)), None)

    def starter(self, name: str = "the table", options: Mapping[str, Any] | None = None) -> str:
        """Return a commented policy to start from; ``name`` and ``options``: what was read, and how."""
        return starter(self, name, options)

    def policy(self) -> Policy:
        """Return a policy to start from."""
        return Policy.parse(self.starter())

    def __repr__(self) -> str:
        lines = [f"Found: {len(self.columns)} columns, {self.table.records:,} records"]
        lines += [f"  {one.name}: {one.role} ({'; '.join(one.reasons)})" for one in self.columns.values()]
        return "\n".join(lines)


def identify(  # noqa: PLR0913 - keyword-only options
    data: Any,
    *,
    subject: str | None = None,
    direct: Sequence[str] = (),
    method: str = "evidence",
    alpha: float = ALPHA,
    beta: float = BETA,
    compat: str | None = None,
    combinations: bool = True,
    orders: int | None = None,
    seed: int = 0,
    progress: Hook | None = None,
) -> Found:
    """Propose a role for each column of a table, with reasons.

    ``subject``: the column that says whose record it is, if its name does not tell. ``direct``: columns that are known
    to name persons. ``method``: what decides: all that was found out, or risk rates and the thresholds ``alpha`` and
    ``beta``, but about columns that name persons (Menten 2024; ``compat="menten-2024"``: to the digit as the thesis,
    and about all columns that are not in ``direct``). ``combinations``: whether columns are
    also looked at together. ``orders``: how many orders of columns are drawn where there are too many to count every
    subset of them.

    >>> import shoal
    >>> mails = ["ann@a.org", "bob@b.org", "cid@c.org", "dan@d.org", "eve@e.org"]
    >>> found = identify({"contact": mails, "age": [34, 71, 34, 50, 51]})
    >>> {name: one.role.value for name, one in found.columns.items()}
    {'contact': 'direct', 'age': 'quasi'}
    """
    if method not in METHODS:
        raise ModelError(f"The method must be one of {', '.join(METHODS)}.", hint=did_you_mean(method, METHODS))
    table = data if isinstance(data, Table) else read(data)
    hook = progress or silent
    rates = g_distinct(table, alpha=alpha, beta=beta, direct=direct, compat=compat) if method != "evidence" else None
    hook(Progress("looking at columns", 0))
    whose = table[subject].name if subject is not None else _subject(table) if compat is None else None
    known = {table[name].name for name in direct}
    seen = {name: Seen(table, name, name == whose, name in known) for name in table.names}
    proposals = _single({name: proposal(one) for name, one in seen.items()})
    if rates is not None:
        always = compat is not None
        proposals = {
            name: rated(rates, name, made, always=always)
            for name, made in proposals.items()
            if name not in rates.excluded
        }
        seen = {name: seen[name] for name in proposals}
    counted = _counted(table, proposals) if combinations and table.records else []
    together = links(table, counted, seed=seed)
    persons = table if whose is None else replace(table, roles={}).assign(subject=whose)
    parts = (
        contribution(persons, counted, orders=orders, seed=seed, progress=hook) if counted and table.records else None
    )
    findings = {name: _finding(one, proposals[name], parts, together) for name, one in seen.items()}
    for name, leader in _leaders([name for name, one in findings.items() if one.role is Role.QUASI], together).items():
        findings[name] = replace(findings[name], follows=leader)
    return Found(
        table,
        findings,
        parts,
        () if parts is None else _keys(parts, persons, seed),
        tuple(together),
        checklist({name: None if one.concept is None else one.concept.hipaa for name, one in findings.items()}),
        rates,
    )


def _keys(parts: Contribution, table: Table, seed: int) -> tuple[Key, ...]:
    """Return the smallest keys or, where not all subsets were counted, one that was found greedily."""
    if parts.exact:
        return tuple(_told_apart(key, table) for key in parts.keys()[:KEYS])
    key = separating(parts.names, rows_of(table, parts.names), seed=seed)
    return () if key is None else (_told_apart(key, table),)


def _told_apart(key: Key, table: Table) -> Key:
    classes = Classes.of(table, key.columns)
    return replace(key, distinction=float(distinction(classes)), separation=float(separation(classes)))


def _subject(table: Table) -> str | None:
    """Return the first column without gaps whose name says that it names persons, and that may do so."""
    for name in table.names:
        seen = Seen(table, name)
        says = seen.named is not None and seen.named.concept.name == "patient"
        if says and not seen.column.missing and seen.shape.values >= min(_REPEATS, table.records):
            return name
    return None


def _single(proposals: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Let only the first column have a role that one column has; others like it name somebody, too."""
    found, taken = {}, set()
    for name, made in proposals.items():
        again = made.role.single and made.role in taken
        found[name] = replace(made, role=Role.DIRECT) if again else made
        taken.add(made.role)
    return found


def _counted(table: Table, proposals: Mapping[str, Proposal]) -> list[str]:
    """Return the columns that may be known beside others: all that name nobody on their own, and say something."""
    roles = {Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE}
    return [name for name, made in proposals.items() if made.role in roles and table[name].size > 1]


def _finding(seen: Seen, made: Proposal, parts: Contribution | None, together: Sequence[Link]) -> Finding:
    counts = seen.counts[seen.counts > 0]
    share = None if parts is None else parts.shares.get(seen.name)
    reasons, linked = list(made.reasons), _leader(seen.name, together)
    if share is not None:
        reasons.append(f"it makes {share:.1%} of people unique")
    if made.concept is not None and made.concept.known is not None and made.role is Role.QUASI:
        reasons.append(f"{made.concept.known} may know it")
    if seen.missing > _MOSTLY_MISSING:
        reasons.append(f"{seen.missing:.0%} are missing")
    if linked is not None:
        reasons.append(f"it is told by {linked}")
    return Finding(
        seen.name,
        made.role,
        tuple(reasons),
        made.concept,
        seen.shape,
        seen.missing,
        len(counts) / max(seen.table.records, 1),
        float(separated(counts, np.ones_like(counts), seen.table.records)),
        risk_rate(counts),
        share,
        None if parts is None else parts.errors.get(seen.name),
        linked,
    )


def _leaders(quasi: Sequence[str], together: Sequence[Link]) -> dict[str, str]:
    """Return the quasi-identifiers that say the same as another, and which: the first of all that do."""
    found: dict[str, str] = {}
    for link in together:
        leader, same = found.get(link.columns[0], link.columns[0]), link.both or link.way is Way.NEAR
        if same and leader in quasi and link.told in quasi and link.told != leader:
            found.setdefault(link.told, leader)
    return {name: found.get(leader, leader) for name, leader in found.items()}


def _leader(name: str, together: Sequence[Link]) -> str | None:
    """Return the column that tells what is in this one, if a single one does and it comes before."""
    for link in together:
        if link.told == name and link.way is not Way.COMPUTED:
            return link.columns[0]
    return None
