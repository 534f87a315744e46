"""Visible loss: information loss that a recipient can compute from the released cells and the hierarchies.

A label that covers m of the d values of its domain costs (m − 1) / (d − 1), an interval its width relative to the range
of all labels of the column, and a suppressed cell 1. The domain comes from the hierarchy or from the released labels,
never from the original. The measure ``loss`` uses the domain of the original instead and is for the owner.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shoal.policy.policy import Policy
from shoal.table.column import as_text
from shoal.table.table import Table
from shoal.techniques.technique import Truth


@dataclass(frozen=True, slots=True)
class VisibleLoss:
    """Information loss of released cells.

    ``columns``: the mean cost of the cells of each quasi-identifier, 0 to 1; None if its labels do not determine it.
    """

    columns: Mapping[str, float | None]

    @property
    def total(self) -> float | None:
        """The mean over the quasi-identifiers; None if the labels of one of them do not determine its loss."""
        known = [cost for cost in self.columns.values() if cost is not None]
        return float(np.mean(known)) if known and len(known) == len(self.columns) else None

    @property
    def undetermined(self) -> tuple[str, ...]:
        """The quasi-identifiers without a value."""
        return tuple(name for name, cost in self.columns.items() if cost is None)

    def document(self) -> dict[str, object]:
        """Return the values as JSON content."""
        return {"total": self.total, "columns": dict(self.columns)}


def visible_loss(table: Table, policy: Policy) -> VisibleLoss:
    """Measure the visible loss of a released table.

    >>> import shoal
    >>> policy = Policy.parse('''
    ... version = 1
    ... columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
    ... columns.sex = { role = "quasi", hierarchy = { kind = "suppression" } }
    ... ''')
    >>> released = {"age": ["30-39", "30-39", "60-69"], "sex": ["f", "f", "*"]}
    >>> found = visible_loss(policy.apply(shoal.read(released, suppressed="*")), policy)
    >>> {name: round(cost, 3) for name, cost in found.columns.items()}
    {'age': 0.231, 'sex': 0.333}
    """
    is_true = policy.search.technique.truth is Truth.TRUE  # otherwise single values may be untrue
    return VisibleLoss({name: _cost(table, policy, name) if is_true else None for name in table.quasi})


def _cost(table: Table, policy: Policy, name: str) -> float | None:
    column = table[name]
    if name not in policy.columns or policy.columns[name].show != "label" or not table.records:
        return None
    labels, counts = as_text(column.values).to_pylist(), table.counts(name)
    spread = policy.spread(name, labels) if labels else np.zeros(0)  # suppressed cells cost 1 in every hierarchy
    if spread is None:
        return None
    blank = 0 if column.suppressed_code is None else counts[column.suppressed_code]
    return float((counts[: len(spread)] @ spread + blank) / table.records)
