"""Inheritance: released values of a record are known attributes of all records that refer to it.

An adversary with all tables of a release can follow the references. The equivalence class of an admission therefore
contains only admissions of patients of the same class. Likewise, a sensitive value of a patient must not be disclosed
by the smaller classes of admissions either.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from shoal.dataset.links import Records
from shoal.dataset.passed_column import PassedColumn, at_records
from shoal.kernels.translation import narrowest
from shoal.policy.references import Reference
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.names import unused
from shoal.table.raw import Encoded
from shoal.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Heritage:
    """Attributes that records inherit from the records they refer to: equivalence classes and sensitive columns."""

    classes: tuple[Encoded, ...] = ()
    secrets: tuple[PassedColumn, ...] = ()

    @property
    def columns(self) -> list[Encoded]:
        """All inherited columns."""
        return [*self.classes, *(secret.encoded for secret in self.secrets)]

    @property
    def names(self) -> set[str]:
        """Names of the inherited columns."""
        return {column.column.name for column in self.columns}

    def of(self, records: Records) -> "Heritage":
        """Return the inherited attributes of the given records."""
        classes = tuple(at_records(encoded, records, encoded.column.name) for encoded in self.classes)
        return Heritage(classes, tuple(secret.taken(records, secret.name) for secret in self.secrets))


@dataclass(frozen=True, slots=True, eq=False)
class Shows:
    """Attributes that records pass on to the records that refer to them.

    ``classes``: the equivalence class of each record, as one text. ``secrets``: the sensitive columns.
    """

    classes: Encoded | None
    secrets: tuple[PassedColumn, ...] = ()

    @classmethod
    def of(cls, table: Table, own: Sequence[PassedColumn], inherited: Heritage) -> "Shows":
        """Combine the records' own attributes with the inherited ones."""
        return cls(shown_classes(table, table.quasi, inherited.classes), (*own, *inherited.secrets))


def inherited(links: Mapping[Reference, Records], shows: Mapping[str, Shows], taken: Collection[str]) -> Heritage:
    """Return the attributes that records inherit by their references; ``taken``: names of their own columns."""
    classes: list[Encoded] = []
    secrets: list[PassedColumn] = []
    names = set(taken)

    def named(wanted: str) -> str:
        names.add(free := unused(wanted, names))
        return free

    for reference, link in links.items():
        shown = shows[reference.other]
        if shown.classes is not None:
            classes.append(at_records(shown.classes, link, named(f"{reference.other} ({reference.column})")))
        secrets += [secret.taken(link, named(_full(secret.name, reference))) for secret in shown.secrets]
    return Heritage(tuple(classes), tuple(secrets))


def _full(name: str, reference: Reference) -> str:
    """Return the qualified name of a column of another table."""
    return name if "." in name else f"{reference.other}.{name}"


def shown_classes(table: Table, quasi: Sequence[str], inherited: Sequence[Encoded]) -> Encoded | None:
    """Return the equivalence class of each record as one text: its quasi-identifiers and its inherited classes.

    >>> import shoal
    >>> found = shown_classes(shoal.read({"sex": ["f", "m", "f"]}), ["sex"], [])
    >>> found.column.values.to_pylist(), found.codes.tolist()
    (['1:f', '1:m'], [0, 1, 0])
    """
    parts = [*(Encoded(table[name], table.codes(name)) for name in quasi), *inherited]
    if not parts:
        return None
    named = [Encoded(replace(part.column, name=f"c{place}"), part.codes) for place, part in enumerate(parts)]
    joined = Table.of(named, table.records, table.source)
    rows = joined.distinct()
    texts = [_texts(part.column)[codes] for part, codes in zip(parts, rows.codes, strict=True)]
    labels = ["".join(row) for row in zip(*texts, strict=True)]
    values = sorted(set(labels))
    place = {label: number for number, label in enumerate(values)}
    codes = np.array([place[label] for label in labels], narrowest(max(len(values), 1)))
    return Encoded(Column("class", Kind.TEXT, pa.array(values, pa.string())), joined.engine.expand(rows, codes))


def _texts(column: Column) -> np.ndarray:
    """Return the text of each code, preceded by its length, so that joined texts are unambiguous."""
    labels = column.labels().to_pylist()
    return np.array(["-:" if label is None else f"{len(label)}:{label}" for label in labels], object)
