"""Final steps for a table of several: replace its keys by pseudonyms, and sort its rows by released values."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from shoal.dataset.dataset import Dataset
from shoal.dataset.links import Records
from shoal.errors import PolicyError, did_you_mean
from shoal.kernels.grouping import group_rows
from shoal.policy.references import domain
from shoal.release.pseudonyms import pseudonymous
from shoal.table.compaction import compacted
from shoal.table.raw import Encoded
from shoal.table.role import Role
from shoal.table.table import Table


def keys(dataset: Dataset, name: str) -> tuple[str, ...]:
    """Return the columns of a table that get pseudonyms.

    These are references to other tables, keys that other tables refer to, and columns that the policy names.
    """
    pseudonyms = dataset.policy.pseudonyms
    refer = [reference.column for reference in dataset.refers(name)]
    referred = [reference.key for reference in dataset.referred(name)]
    named = [] if pseudonyms is None else [column for column in pseudonyms.columns if column in dataset.tables[name]]
    return tuple(dict.fromkeys([*refer, *referred, *named]))


def check_pseudonyms(dataset: Dataset) -> None:
    """Refuse pseudonyms for columns that do not exist in any table."""
    pseudonyms = dataset.policy.pseudonyms
    known = {column for table in dataset.tables.values() for column in table.names}
    for column in [] if pseudonyms is None else pseudonyms.columns:
        if column not in known:
            raise PolicyError(
                "pseudonyms-of-column",
                "Column '{column}' cannot get pseudonyms, because no table has it.",
                remedy=did_you_mean(column, known),
                column=column,
            )


def dressed(dataset: Dataset, name: str, base: Table, origins: Records, key: bytes) -> tuple[Table, Records]:
    """Add pseudonyms to a released table and sort it; return also the order of its records.

    ``origins``: the record of the original table for each released record. ``key``: the key of the pseudonyms.
    """
    given = dataset.tables[name]
    encoded = {column: Encoded(base[column], base.codes(column)) for column in base.names}
    encoded.update(_pseudonyms(dataset, name, origins, key))
    ordered = [encoded[column] for column in given.names if column in encoded]
    sizes = [max(encoded.column.size, 1) for encoded in ordered]
    rows = group_rows([encoded.codes for encoded in ordered], sizes, base.records)
    order: Records = np.argsort(rows.ids, kind="stable")
    sorted_table = Table.of(
        [Encoded(encoded.column, encoded.codes[order]) for encoded in ordered], base.records, base.source
    )
    roles = {**base.roles, **dict.fromkeys(encoded.keys() - set(base.names), Role.INSENSITIVE)}
    return replace(sorted_table, roles=roles), order


def _pseudonyms(dataset: Dataset, name: str, origins: Records, key: bytes) -> Mapping[str, Encoded]:
    given, pseudonyms = dataset.tables[name], dict[str, Encoded]()
    for column in keys(dataset, name):
        column_of, codes = pseudonymous(given[column], key, domain=_domain(dataset, name, column))
        pseudonyms[column] = Encoded(*compacted(column_of, codes[given.codes(column)[origins]]))
    return pseudonyms


def _domain(dataset: Dataset, name: str, column: str) -> str:
    """Return the domain of the values of a column: that of its reference or, without a reference, the column name."""
    refers = {reference.column for reference in dataset.refers(name)} | {
        reference.key for reference in dataset.referred(name)
    }
    return domain(dataset.policy.tables, name, column) if column in refers else column
