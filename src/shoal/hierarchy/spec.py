"""Hierarchy specifications of a policy: a kind and its parameters, not yet bound to a column."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal import toml
from shoal.errors import HierarchyError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.registry import Registry
from shoal.remedy import ColumnSetting, either
from shoal.table.column import Column
from shoal.table.table import Table
from shoal.validation import Checked, validated
from shoal.words import counted

KINDS: Registry[type["Spec"]] = Registry("kind of hierarchy", "shoal.hierarchy")


class Spec(Checked):
    """The base of all kinds of hierarchies. A subclass has a ``kind``, its parameters as fields, and :meth:`build`."""

    kind: str
    of_persons: ClassVar[bool] = False  # whether persons are counted instead of records
    names_values: ClassVar[bool] = False  # whether the label of a group contains its first and last values

    @property
    def of_data(self) -> bool:
        """Whether labels depend on other values of the column, not only on the value itself."""
        return False

    def resolved(self, column: Column) -> "Spec":  # noqa: ARG002 - for subclasses
        """Return the kind of hierarchy for a column: this one, or the one that it proposes."""
        return self

    @abstractmethod
    def build(self, column: Column, counts: NDArray[np.int64], folder: Path) -> Hierarchy:
        """Bind to a column. ``counts[code]``: the number of records with each code. ``folder``: the folder of files."""

    def spread(self, labels: Sequence[str], folder: Path) -> NDArray[np.float64] | None:  # noqa: ARG002 - for subclasses
        """Return the share of the other values of its domain that each label covers; None if it cannot be derived."""
        return None

    def toml(self) -> str:
        """Return the inline table of this specification in a policy."""
        return toml.value({"kind": self.kind, **self.model_dump(exclude_defaults=True, exclude={"kind"})})


def bind(spec: Spec, table: Table, name: str, folder: Path | None = None) -> Hierarchy:
    """Build the hierarchy of a column of a table.

    >>> import shoal
    >>> from shoal.hierarchy.interval import Interval
    >>> table = shoal.read({"age": [34, 71, 36]})
    >>> bind(Interval(widths=[10]), table, "age").labels(1).to_pylist()
    ['30-39', '30-39', '70-79']
    """
    counts = table.persons(name) if spec.of_persons else table.counts(name)
    return spec.build(table[name], counts, folder or Path())


def bind_all(given: Any, table: Table) -> dict[str, Hierarchy]:
    """Build hierarchies given by column: as bound hierarchies, as specifications, or in the notation of a policy.

    >>> import shoal
    >>> table = shoal.read({"age": [34, 71]})
    >>> bind_all({"age": {"kind": "interval", "widths": [10]}}, table)["age"].labels(1).to_pylist()
    ['30-39', '70-79']
    """
    if not isinstance(given, Mapping):
        raise HierarchyError(
            "hierarchies-not-a-mapping",
            "Hierarchies must be given by column.",
            remedy='For example: {{ "icd10": {{ "kind": "icd10" }} }}.',
        )
    return {name: _bound(given_spec, table, name) for name, given_spec in given.items()}


def _bound(given: Any, table: Table, name: str) -> Hierarchy:
    if isinstance(given, Hierarchy):
        return given
    where = f"The hierarchy of column '{name}'"
    if isinstance(given, Mapping):
        kind = given.get("kind")
        if not isinstance(kind, str):
            raise HierarchyError(
                "no-kind",
                "{where} has no kind.",
                remedy='For example: {{ "kind": "interval", "widths": [10] }}.',
                where=where,
            )
        given = validated(KINDS[kind], given, where=where, error=HierarchyError)
    if not isinstance(given, Spec):
        raise HierarchyError(
            "not-a-hierarchy",
            "{where} is not a hierarchy.",
            remedy='For example: {{ "kind": "interval", "widths": [10] }}.',
            where=where,
        )
    return bind(given, table, name)


def refuse_unknown(
    column: Column, counts: NDArray[np.int64], unknown: Sequence[bool] | NDArray[np.bool_], what: str, mend: str
) -> None:
    """Refuse values that a hierarchy does not contain; the error states their number and a remedy, never the values."""
    lost = np.zeros(column.size, bool)
    lost[: len(unknown)] = unknown
    if lost.any():
        values, records = int(np.count_nonzero(lost)), counted(int(counts[lost].sum()), "record")
        raise HierarchyError(
            "values-outside-hierarchy",
            "{values:,} of the {all:,} values of column '{column}', in {records}, {what}.",
            remedy=either(mend, ColumnSetting("hierarchy.unknown", "suppress")),
            values=values,
            all=column.size,
            column=column.name,
            records=records,
            what=what,
        )
