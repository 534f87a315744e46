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

from shoal.engines.memory import MemoryEngine
from shoal.engines.protocol import Kept, RecordIdentity, Rewriting
from shoal.engines.written import kept_records
from shoal.kernels.ordering import order
from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes
from shoal.perturbations.column_values import ColumnValues, Draws
from shoal.perturbations.perturbation import Perturbation
from shoal.policy.policy import Policy
from shoal.release.drawing import drawing, identity
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
    words = perturbing.words if any(isinstance(change, Drawn) for change in changes) else None
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

    @property
    def words(self) -> Words | None:
        """The words of the records, if the engine rewrites them in the same order."""
        return self._records[1] if isinstance(self.table.engine, MemoryEngine) else None

    def _values(self, name: str, perturbation: Perturbation) -> ColumnValues:
        alike = tuple(other for other, its in self.perturbations.items() if its == perturbation)
        stream = perturbation.stream(alike)

        def draws(*others: str) -> Draws:
            return self._units(name, others, stream, perturbation.salt)

        return ColumnValues(
            column=self.table[name],
            draws=draws,
            tally=lambda: self._tally(name, draws),
            ends=lambda: self._ends(name),
            columns={column.name: column for column in self.table.columns},
            known=self.table.quasi,
            alike=alike,
        )

    def _units(self, name: str, others: tuple[str, ...], stream: str | None, salt: str) -> Draws:
        """Return the persons and values of a column, in ascending order of their random words."""
        names = tuple(dict.fromkeys((name, *others)))
        codes, identities = self._records
        source = drawing(self.key, self.table[name], lambda codes, _: codes, stream, salt)
        words = source.words(codes[name], identities)
        if self.table.subject is None:
            places = order(words)
            return Draws(words[places], {name: codes[name][places] for name in names})
        ranked = np.lexsort([*(codes[name] for name in reversed(names)), words])
        sorted_codes = {name: codes[name][ranked] for name in names}
        differ = np.logical_or.reduce([np.diff(column) != 0 for column in (words[ranked], *sorted_codes.values())])
        return Draws(words[ranked], sorted_codes).some(np.concatenate([np.ones(min(len(ranked), 1), bool), differ]))

    def _tally(self, name: str, draws: Callable[[], Draws]) -> NDArray[np.int64]:
        """Return the number of persons with each value; without a subject, each record is a person."""
        if self.table.subject is None:
            return self._records_with(name)
        return np.bincount(draws().codes[name], minlength=self.table[name].size)

    def _records_with(self, name: str) -> NDArray[np.int64]:
        """Return the number of records with each value."""
        size = self.table[name].size
        counts = np.zeros(size, np.int64)
        for kept in self._kept((name,), None):
            counts += np.bincount(kept.codes[name], minlength=size)
        return counts

    def _ends(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the number of persons whose lowest, and whose highest, value has each code; values only."""
        number, subject = len(self.table[name].values), self.table.subject
        if subject is None:
            counts = self._records_with(name)[:number]
            return counts, counts
        low, high = np.full(self.table[subject].size, number), np.full(self.table[subject].size, -1)
        for kept in self._kept((name, subject), None):
            there = kept.codes[name] < number
            codes, whose = kept.codes[name][there].astype(np.int64), kept.codes[subject][there]
            np.minimum.at(low, whose, codes)
            np.maximum.at(high, whose, codes)
        return tuple(np.bincount(ends[high >= 0], minlength=number) for ends in (low, high))  # type: ignore[return-value]

    @cached_property
    def _records(self) -> tuple[Mapping[str, Codes], Words]:
        """The codes of all records to be released in the columns that are read, and a word that identifies each."""
        who, read = identity(self.table), self._read
        chunks = [
            ([kept.codes[name] for name in read], who.words(kept.codes, kept.ordinals))
            for kept in self._kept(read, who)
        ]
        codes = [np.concatenate(parts) for parts in zip(*(columns for columns, _ in chunks), strict=True)]
        return dict(zip(read, codes, strict=True)), np.concatenate([words for _, words in chunks])

    def _kept(self, names: tuple[str, ...], who: RecordIdentity | None) -> Iterator[Kept]:
        """Yield the codes of the records to be released in some columns, in chunks; ``who`` if they are identified."""
        passed = {name: (name, np.zeros(0, np.uint8)) for name in names}
        decided = self.transformation
        return kept_records(
            self.table.engine, Rewriting(decided.rows, ~decided.suppressed, {}, passed, (), {}, identity=who)
        )

    @property
    def _read(self) -> tuple[str, ...]:
        """The perturbed columns, and those that their perturbations read besides."""
        known, perturbations = self.table.quasi, self.perturbations
        others = (name for perturbation in perturbations.values() for name in perturbation.reads(known))
        return tuple(dict.fromkeys((*perturbations, *others)))
