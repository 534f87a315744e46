"""Pairs: one column for the combinations of two columns, such as a sensitive value and an individual's threshold."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import narrowest
from shoal.models.model import Model
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.raw import Encoded
from shoal.table.role import Role
from shoal.table.table import Table

_BETWEEN = "\x1f"  # the unit separator of ASCII, between the two labels of a pair
_NONE = "\x00"  # the label of a missing value


def pair_name(first: str, second: str) -> str:
    """Return the name of the column of pairs."""
    return f"{first} with {second}"


def labels_of(pairs: Column) -> list[tuple[str | None, str | None]]:
    """Return the two labels of each code of a column of pairs; None for a missing value."""
    parts = (label.split(_BETWEEN) for label in pairs.values.to_pylist())
    return [(_known(first), _known(second)) for first, second in parts]


def with_pairs(table: Table, models: Iterable[Model]) -> Table:
    """Return a table with the columns of pairs that models evaluate. They are thresholds, which are not released.

    >>> import shoal
    >>> from shoal.models.guarding_nodes import GuardingNodes
    >>> table = shoal.read({"dx": ["flu", "ms"], "guard": ["flu", None]}).assign(sensitive="dx")
    >>> paired = with_pairs(table, [GuardingNodes(threshold="guard", p="1/2")])
    >>> labels_of(paired["dx with guard"])
    [('flu', 'flu'), ('ms', None)]
    """
    wanted = dict.fromkeys(
        pair for model in models for pair in model.pairs(table.sensitive) if set(pair) <= set(table.names)
    )
    if not wanted:
        return table
    encoded = [Encoded(column, table.codes(column.name)) for column in table.columns]
    pairs = [_paired(table, *pair) for pair in wanted]
    whole = Table.of([*encoded, *pairs], table.records, table.source)
    roles = {role: table.with_role(role) for role in Role if table.with_role(role)}
    thresholds = (*table.with_role(Role.THRESHOLD), *(pair.column.name for pair in pairs))
    return whole.assign(**{**{str(role): list(names) for role, names in roles.items()}, "threshold": list(thresholds)})


def _paired(table: Table, first: str, second: str) -> Encoded:
    names = (first, second)
    codes, sizes = [table.codes(name) for name in names], [table[name].size for name in names]
    groups = group_rows(codes, sizes, table.records)
    labels = [[_NONE if label is None else str(label) for label in table[name].labels().to_pylist()] for name in names]
    found = [column[groups.first] for column in codes]
    texts = [f"{labels[0][one]}{_BETWEEN}{labels[1][two]}" for one, two in zip(*found, strict=True)]
    column = Column(pair_name(first, second), Kind.TEXT, pa.array(texts, pa.string()))
    return Encoded(column, np.asarray(groups.ids).astype(narrowest(max(len(texts), 1))))


def _known(label: str) -> str | None:
    return None if label == _NONE else label
