"""``shoal.plan``: the resources for assessing and anonymising a table."""

from collections.abc import Sequence
from math import prod
from typing import Any

from shoal.errors import PolicyError
from shoal.progress import Hook
from shoal.search.workload import Plan, workload
from shoal.table.reading import read_sample
from shoal.verbs.inputs import AnyPolicy, names_of, policy_of


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
    ladders = chosen.hierarchies(table)
    schemes = prod(ladders[name].height + 1 for name in names) if ladders and {*names} <= {*ladders} else None
    return workload(table, records, names, schemes)
