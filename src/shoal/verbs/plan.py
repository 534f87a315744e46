"""``shoal.plan``: the resources for assessing and anonymising a table."""

from collections.abc import Sequence
from math import prod
from typing import Any

from shoal.errors import PolicyError
from shoal.policy.policy import Policy
from shoal.progress import Hook
from shoal.release.trial import search_seconds
from shoal.search.workload import Plan, workload
from shoal.table.reading import read_sample
from shoal.table.table import Table
from shoal.verbs.inputs import AnyPolicy, names_of, policy_of

_LONG = 1_000_000_000  # schemes times combinations from which a search may take long


def plan(
    source: Any,
    policy: AnyPolicy = None,
    *,
    quasi: Sequence[str] | str | None = None,
    progress: Hook | None = None,
    **options: Any,
) -> Plan:
    """Estimate the resources for assessing and anonymising a table; only a sample of it is read.

    ``quasi``: the quasi-identifiers (default: those of the policy, or all columns). ``options``: the reading options,
    as in :func:`shoal.read`.

    >>> import shoal
    >>> found = shoal.plan({"age": [31, 34, 71, 34], "sex": ["f", "m", "f", "m"]})
    >>> found.records, found.combinations, found.engine
    (4, 3, 'memory')
    """
    chosen = policy_of(policy)
    stated = chosen.data.read.model_dump(exclude_unset=True)
    sample, records = read_sample(source, progress=progress, **{**stated, **options})
    table = chosen.apply(sample) if chosen.names_columns else sample
    names = tuple(names_of(quasi) or table.quasi or table.names)
    if not names:
        raise PolicyError("no-columns", "No column has combinations that could be counted.")
    plan = workload(table, records, names, _schemes(table, chosen, names))
    seconds = search_seconds(table, chosen, plan.combinations) if chosen.require else None
    return plan if seconds is None else plan.searching(seconds)


def long_search(table: Table, policy: Policy) -> float | None:
    """Estimate the processor time of a search in seconds; None if the search is so short that a trial does not pay."""
    known = policy.apply(table) if policy.names_columns else table
    combinations, schemes = len(known.distinct(known.quasi)), _schemes(known, policy, known.quasi) or 0
    return search_seconds(known, policy, combinations) if policy.require and combinations * schemes > _LONG else None


def _schemes(table: Table, policy: Policy, names: Sequence[str]) -> int | None:
    """Return the number of generalisation schemes; None if a column has no hierarchy."""
    ladders = policy.hierarchies(table)
    return prod(ladders[name].height + 1 for name in names) if ladders and {*names} <= {*ladders} else None
