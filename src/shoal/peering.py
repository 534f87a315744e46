"""``peers``: the privacy of every person, over all combinations of what an adversary may know."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from shoal.errors import ModelError
from shoal.individuals.people import People, look_at
from shoal.individuals.wide import look_at_all
from shoal.models.exact import exact
from shoal.policy import Policy
from shoal.progress import Hook, Progress, silent
from shoal.subsets import BUDGET, SubsetCounts
from shoal.table.missing import Missing
from shoal.table.reading import read
from shoal.table.table import Table


def peers(  # noqa: PLR0913 - keyword-only options
    data: Any,
    policy: Policy | str | Path | None = None,
    *,
    sensitive: Sequence[str] | str | None = None,
    auxiliary: Sequence[str] | str | None = None,
    subject: str | None = None,
    missing: str | None = None,
    most: int | None = None,
    empty: bool = False,
    p: Fraction | float | str = 0,
    q: Fraction | float | str = 0,
    seconds: float | None = None,
    memory: int = BUDGET,
    progress: Hook | None = None,
) -> People:
    """Measure how every person is protected by their peers (Kroes 2021).

    Every column in turn is taken as sensitive, and all others may be known; ``sensitive`` and ``auxiliary`` choose.
    With a policy: its quasi-identifiers and sensitive columns. ``most``: at most so many variables are known.
    ``empty``: look at an adversary who knows nothing, too. ``p``, ``q``: the thresholds of upward and downward privacy;
    q = "joint" takes p / (|dom| − 1). ``seconds``: in a table so wide that the combinations cannot all be counted, how
    long to search for the one that tells most (a minute); what is not certain by then is told. ``memory``: bytes that
    the counts of all combinations may take.

    >>> import shoal
    >>> people = peers({"dx": ["flu", "flu", "ms"], "sex": ["f", "f", "m"], "age": [30, 40, 40]})
    >>> people.summary()["dx"]["breached"], people.for_person(2)[0].minimal
    (3, (('sex',),))
    """
    chosen = None if policy is None else Policy.given(policy)
    table = _table(data, chosen, subject)
    columns, hidden, known = _columns(table, sensitive, auxiliary)
    rule = Missing.named(missing or (chosen.data.missing if chosen else Missing.OWN))
    hook = progress or silent
    hook(Progress("counting", 0))
    counted = SubsetCounts.of(table, columns, missing=rule, budget=memory, threads=2)
    limit = exact(p)
    thresholds = {name: _joint(limit, len(table[name].values)) if q == "joint" else exact(q) for name in hidden}
    if counted.counts is None:
        if empty or any(thresholds.values()):
            raise ModelError("In so wide a table, q must be 0 and the empty combination is left out.")
        bar = lambda done, total: hook(Progress("searching", done, total))  # noqa: E731 - as the kernel calls it
        wide = look_at_all(counted, hidden, known, p=limit, most=most, seconds=seconds, progress=bar)
        return People(counted, wide, limit, thresholds, most, empty)
    variables = {}
    for done, name in enumerate(hidden):
        hook(Progress("looking at variables", done, len(hidden)))
        others = [other for other in known if other != name]
        variables[name] = look_at(counted, name, others, p=limit, q=thresholds[name], most=most, empty=empty)
    return People(counted, variables, limit, thresholds, most, empty)


def _table(data: Any, policy: Policy | None, subject: str | None) -> Table:
    if policy is not None and not isinstance(data, Table):
        table = policy.read(data)
    else:
        table = data if isinstance(data, Table) else read(data)
        table = policy.apply(table) if policy is not None else table
    return table.taking(subject=subject)


def _columns(
    table: Table, sensitive: Sequence[str] | str | None, auxiliary: Sequence[str] | str | None
) -> tuple[list[str], list[str], list[str]]:
    """Return all columns that matter, those to be taken as sensitive, and those that may be known."""
    roles = [*table.quasi, *table.sensitive] or [name for name in table.names if name != table.subject]
    hidden = _names(sensitive) or roles
    known = _names(auxiliary) or [name for name in roles if name not in hidden or sensitive is None] or roles
    columns = [name for name in table.names if name in {*hidden, *known}]
    for name in (*hidden, *known):
        table[name]  # raises if there is none
    if len(columns) < 2:
        raise ModelError("At least two columns are needed: something to know, and something to learn.")
    return columns, hidden, known


def _names(names: Sequence[str] | str | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _joint(p: Fraction, domain: int) -> Fraction:
    return p / max(domain - 1, 1)
