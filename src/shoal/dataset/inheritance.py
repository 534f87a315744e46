"""Inheritance: whoever has all tables of a release knows of a record what the records show that it refers to.

So what those show counts as known: a record of an admission hides among the admissions of patients who look alike. And
what nobody should learn about a patient, nobody should learn from the finer classes of admissions either.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from shoal.dataset.links import Records
from shoal.kernels.translation import narrowest
from shoal.models.model import Model
from shoal.policy.columns import ColumnPolicy
from shoal.policy.references import Reference
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.names import unused
from shoal.table.raw import Encoded
from shoal.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Secret:
    """A sensitive column, what the policy says about it, and what is required of it."""

    encoded: Encoded
    policy: ColumnPolicy
    models: tuple[Model, ...]

    @property
    def name(self) -> str:
        """What the column is called."""
        return self.encoded.column.name

    def taken(self, records: Records, name: str) -> "Secret":
        """Return the column of those who refer to these records; what is required of it names it anew."""
        models = tuple(model.model_copy(update={"column": name}) for model in self.models)
        return Secret(_taken(self.encoded, records, name), self.policy, models)


@dataclass(frozen=True, slots=True, eq=False)
class Heritage:
    """What records have from those that they refer to: the class of each, and their secrets."""

    classes: tuple[Encoded, ...] = ()
    secrets: tuple[Secret, ...] = ()

    @property
    def columns(self) -> list[Encoded]:
        """All of it as columns."""
        return [*self.classes, *(secret.encoded for secret in self.secrets)]

    @property
    def names(self) -> set[str]:
        """What these columns are called."""
        return {column.column.name for column in self.columns}

    def of(self, records: Records) -> "Heritage":
        """Return what some of the records have."""
        classes = tuple(_taken(encoded, records, encoded.column.name) for encoded in self.classes)
        return Heritage(classes, tuple(secret.taken(records, secret.name) for secret in self.secrets))


@dataclass(frozen=True, slots=True, eq=False)
class Shows:
    """What records hand down. ``classes``: what each shows, as one text; ``secrets``: what nobody should learn."""

    classes: Encoded | None
    secrets: tuple[Secret, ...] = ()

    @classmethod
    def of(cls, table: Table, own: Sequence[Secret], inherited: Heritage) -> "Shows":
        """Put together what records show themselves and what they have inherited."""
        return cls(shown_classes(table, table.quasi, inherited.classes), (*own, *inherited.secrets))


def inherited(links: Mapping[Reference, Records], shows: Mapping[str, Shows], taken: Collection[str]) -> Heritage:
    """Return what records inherit by their references; ``taken``: names that their own columns have."""
    classes: list[Encoded] = []
    secrets: list[Secret] = []
    names = set(taken)

    def named(wanted: str) -> str:
        names.add(free := unused(wanted, names))
        return free

    for reference, link in links.items():
        shown = shows[reference.other]
        if shown.classes is not None:
            classes.append(_taken(shown.classes, link, named(f"{reference.other} ({reference.column})")))
        secrets += [secret.taken(link, named(_full(secret.name, reference))) for secret in shown.secrets]
    return Heritage(tuple(classes), tuple(secrets))


def _full(name: str, reference: Reference) -> str:
    """Return the name of a column of another table."""
    return name if "." in name else f"{reference.other}.{name}"


def shown_classes(table: Table, quasi: Sequence[str], inherited: Sequence[Encoded]) -> Encoded | None:
    """Return what each record shows, as one text: its quasi-identifiers, and what it has inherited itself.

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
    """Return how each code is written so that nothing can run into what stands beside it."""
    labels = column.labels().to_pylist()
    return np.array(["-:" if label is None else f"{len(label)}:{label}" for label in labels], object)


def _taken(encoded: Encoded, records: Records, name: str) -> Encoded:
    return Encoded(replace(encoded.column, name=name), encoded.codes[records])
