"""Dressing: keys of a table become pseudonyms, and its rows come in an order that tells nothing."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from shoal.dataset.dataset import Dataset
from shoal.dataset.links import Records
from shoal.errors import PolicyError, did_you_mean
from shoal.kernels.grouping import group_rows
from shoal.policy.references import domain
from shoal.release.columns import compacted
from shoal.release.pseudonyms import key_of, pseudonymous
from shoal.table.raw import Encoded
from shoal.table.role import Role
from shoal.table.table import Table


def keys(dataset: Dataset, name: str) -> tuple[str, ...]:
    """Return the columns of a table that get pseudonyms: what refers, what is referred to, what the policy names."""
    said = dataset.policy.pseudonyms
    refer = [one.column for one in dataset.refers(name)]
    referred = [one.key for one in dataset.referred(name)]
    named = [] if said is None else [column for column in said.columns if column in dataset.tables[name]]
    return tuple(dict.fromkeys([*refer, *referred, *named]))


def check_pseudonyms(dataset: Dataset) -> None:
    """Refuse names of columns that no table has."""
    said = dataset.policy.pseudonyms
    known = {column for table in dataset.tables.values() for column in table.names}
    for column in [] if said is None else said.columns:
        if column not in known:
            raise PolicyError(
                f"Column '{column}' is to get pseudonyms, but no table has it.", hint=did_you_mean(column, known)
            )


def dressed(dataset: Dataset, name: str, base: Table, origins: Records) -> tuple[Table, Records]:
    """Add pseudonyms to what goes out of a table, and sort it; return also the order of its records.

    ``origins``: which record of the given table each one was.
    """
    given = dataset.tables[name]
    held = {column: Encoded(base[column], base.codes(column)) for column in base.names}
    held.update(_pseudonyms(dataset, name, origins))
    ordered = [held[column] for column in given.names if column in held]
    sizes = [max(one.column.size, 1) for one in ordered]
    rows = group_rows([one.codes for one in ordered], sizes, base.records)
    order: Records = np.argsort(rows.ids, kind="stable")
    made = Table.of([Encoded(one.column, one.codes[order]) for one in ordered], base.records, base.source)
    roles = {**base.roles, **dict.fromkeys(held.keys() - set(base.names), Role.INSENSITIVE)}
    return replace(made, roles=roles), order


def _pseudonyms(dataset: Dataset, name: str, origins: Records) -> Mapping[str, Encoded]:
    said, given = dataset.policy.pseudonyms, dataset.tables[name]
    if said is None:
        return {}
    key = key_of(dataset.policy, said)
    found = {}
    for column in keys(dataset, name):
        made, codes = pseudonymous(given[column], key, domain=_domain(dataset, name, column))
        found[column] = Encoded(*compacted(made, codes[given.codes(column)[origins]]))
    return found


def _domain(dataset: Dataset, name: str, column: str) -> str:
    """Return where the values of a column come from; those that no reference is about have theirs by name."""
    refers = {one.column for one in dataset.refers(name)} | {one.key for one in dataset.referred(name)}
    return domain(dataset.policy.tables, name, column) if column in refers else column
