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

from shoal.engines.protocol import Rewriting
from shoal.engines.written import kept_records
from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes
from shoal.perturbations.perturbation import Perturbation
from shoal.perturbations.values import Units, Values
from shoal.policy.policy import Policy
from shoal.release.case import Case
from shoal.release.drawing import drawing, identity
from shoal.release.transformation import Transformation
from shoal.release.undoing import check_undone
from shoal.techniques.change import Coarsened, Drawn


def perturbed(case: Case, transformation: Transformation) -> Transformation:
    """Return the transformation with the perturbations of the policy."""
    check_undone(case, transformation)
    return transformation.with_changes([*_Perturbing(case, transformation).changes()])


def described(policy: Policy, transformation: Transformation) -> dict[str, Any]:
    """Return the kind, the options and the guarantee of each perturbed column, for the manifests.

    The guarantee is one of the mechanism, and concerns the data: no privacy requirement is met by it.
    """
    facts = {change.name: change.facts for change in transformation.drawn}
    return {
        name: {**column.perturb.options, "proved": column.perturb.guarantee, **facts.get(name, {})}
        for name, column in policy.columns.items()
        if column.perturb is not None
    }


@dataclass(frozen=True, eq=False)
class _Perturbing:
    """The perturbation of a table whose searched columns are transformed."""

    case: Case
    transformation: Transformation

    def changes(self) -> Iterator[Drawn | Coarsened]:
        """Yield the change to each perturbed column."""
        for name, perturbation in self.case.perturbations.items():
            yield perturbation.change(self._values(name, perturbation))

    def _values(self, name: str, perturbation: Perturbation) -> Values:
        table = self.case.table
        alike = tuple(other for other, its in self.case.perturbations.items() if its == perturbation)
        stream = perturbation.stream(alike)

        def units(*others: str) -> Units:
            return self._units(name, others, stream)

        return Values(
            column=table[name],
            units=units,
            tally=lambda: self._tally(name, units),
            columns={column.name: column for column in table.columns},
            known=table.quasi,
            alike=alike,
            least=self.case.least,
        )

    def _units(self, name: str, others: tuple[str, ...], stream: str | None) -> Units:
        """Return the persons and values of a column, in ascending order of their random words."""
        names = tuple(dict.fromkeys((name, *others)))
        codes, identities = self._records
        source = drawing(self.case.key, self.case.table[name], lambda codes, _: codes, stream)
        words = source.words(codes[name], identities)
        if self.case.table.subject is None:
            order = np.argsort(words)
            return Units(words[order], {name: codes[name][order] for name in names})
        order = np.lexsort([*(codes[name] for name in reversed(names)), words])
        sorted_codes = {name: codes[name][order] for name in names}
        differ = np.logical_or.reduce([np.diff(column) != 0 for column in (words[order], *sorted_codes.values())])
        return Units(words[order], sorted_codes).some(np.concatenate([np.ones(min(len(order), 1), bool), differ]))

    def _tally(self, name: str, units: Callable[[], Units]) -> NDArray[np.int64]:
        """Return the number of persons with each value; without a subject, each record is a person."""
        codes = self._records[0] if self.case.table.subject is None else units().codes
        return np.bincount(codes[name], minlength=self.case.table[name].size)

    @cached_property
    def _records(self) -> tuple[Mapping[str, Codes], Words]:
        """The codes of all records to be released in the columns that are read, and a word that identifies each."""
        table, rows = self.case.table, self.transformation.rows
        who, read = identity(table), self._read
        passed = {name: (name, np.zeros(0, np.uint8)) for name in read}
        how = Rewriting(rows, ~self.transformation.suppressed, {}, passed, (), {}, identity=who)
        chunks = [
            ([kept.codes[name] for name in read], who.words(kept.codes, kept.ordinals))
            for kept in kept_records(table.engine, how)
        ]
        codes = [np.concatenate(parts) for parts in zip(*(columns for columns, _ in chunks), strict=True)]
        return dict(zip(read, codes, strict=True)), np.concatenate([words for _, words in chunks])

    @property
    def _read(self) -> tuple[str, ...]:
        """The perturbed columns, and those that their perturbations read besides."""
        known, perturbations = self.case.table.quasi, self.case.perturbations
        others = (name for perturbation in perturbations.values() for name in perturbation.reads(known))
        return tuple(dict.fromkeys((*perturbations, *others)))
