"""Perturbed columns: the changes to columns beside the quasi-identifiers that the policy requires.

The changes are determined from the records to be released. Requirements are evaluated on the true values, so a
perturbation is not credited with any protection that it has not been measured to give.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.perturbations.column_values import ColumnValues, Draws
from shoal.perturbations.perturbation import Perturbation
from shoal.policy.policy import Policy
from shoal.release.kept_records import KeptRecords
from shoal.release.perturbation_check import perturbations
from shoal.release.published import perturbed_columns
from shoal.release.transformation import Transformation
from shoal.release.undoing import check_undone
from shoal.table.table import Table
from shoal.techniques.change import Coarsened, Drawn


def perturbed(table: Table, policy: Policy, key: bytes, transformation: Transformation) -> Transformation:
    """Return the transformation of a table with the perturbations of the policy.

    ``key``: the secret key of all random draws.
    """
    chosen = perturbations(table, policy)
    if not chosen:
        return transformation
    check_undone(table, tuple(chosen), transformation)
    perturbing = _Perturbing(table, chosen, key, transformation)
    changes = [*perturbing.changes()]
    words = perturbing.records.words if any(isinstance(change, Drawn) for change in changes) else None
    return transformation.with_changes(changes, words)


def described(policy: Policy, transformation: Transformation, released: Table) -> dict[str, Any]:
    """Return what the internal manifest says about each perturbed column, with facts about the original."""
    facts = {change.name: change.facts for change in transformation.drawn}
    columns = perturbed_columns(policy, released)
    return {name: {**column, **facts.get(name, {})} for name, column in columns.items()}


@dataclass(frozen=True, eq=False)
class _Perturbing:
    """The perturbation of a table whose searched columns are transformed."""

    table: Table
    perturbations: Mapping[str, Perturbation]
    key: bytes
    transformation: Transformation

    def changes(self) -> Iterator[Drawn | Coarsened]:
        """Yield the change to each perturbed column that has values."""
        for name, perturbation in self.perturbations.items():
            if len(self.table[name].values):
                yield perturbation.change(self._values(name, perturbation))

    def _values(self, name: str, perturbation: Perturbation) -> ColumnValues:
        alike = tuple(other for other, its in self.perturbations.items() if its == perturbation)
        stream = perturbation.stream(alike)

        def draws(*others: str) -> Draws:
            return self.records.draws(name, others, stream, perturbation.salt)

        return ColumnValues(
            column=self.table[name],
            draws=draws,
            tally=lambda: self._tally(name, draws),
            ends=lambda: self.records.ends(name),
            columns={column.name: column for column in self.table.columns},
            known=self.table.quasi,
            alike=alike,
        )

    def _tally(self, name: str, draws: Callable[[], Draws]) -> NDArray[np.int64]:
        """Return the number of persons with each value; without a subject, each record is a person."""
        if self.table.subject is None:
            return self.records.counts(name)
        return np.bincount(draws().codes[name], minlength=self.table[name].size)

    @cached_property
    def records(self) -> KeptRecords:
        """The records to be released."""
        known, perturbations = self.table.quasi, self.perturbations
        others = (name for perturbation in perturbations.values() for name in perturbation.reads(known))
        read = tuple(dict.fromkeys((*perturbations, *others)))
        return KeptRecords(self.table, self.transformation, self.key, read)
