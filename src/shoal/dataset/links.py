"""Links: the records of other tables that records refer to, and the individuals to whom they belong."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.dataset.place import of_table
from shoal.errors import PolicyError, did_you_mean
from shoal.policy.policy import Policy
from shoal.policy.references import Reference, domain, references
from shoal.remedy import Setting, by, either
from shoal.table.column import Column
from shoal.table.table import Table

Records = NDArray[np.intp]


def named_records(table: Table, column: str, other: Table, key: str) -> Records:
    """Return, for each record, the position of the record of another table whose key it contains; −1 if there is none.

    >>> import shoal
    >>> stays, patients = shoal.read({"patient": [7, 9, 7, None]}), shoal.read({"id": [5, 7]})
    >>> named_records(stays, "patient", patients, "id").tolist()
    [1, -1, 1, -1]
    """
    where = np.full(other[key].size + 1, -1, np.intp)
    where[other.codes(key)] = np.arange(other.records)
    return np.asarray(where[_places(table[column], other[key])[table.codes(column)]])


def _places(column: Column, key: Column) -> Records:
    """Return the key code of each code of a column; the number after the last key code means no match."""
    texts = column.labels()[: len(column.values)]
    places = pc.index_in(texts, key.labels()[: len(key.values)]).fill_null(key.size)
    tail = np.full(column.size - len(column.values), key.size, np.intp)
    return np.concatenate([places.to_numpy(zero_copy_only=False).astype(np.intp), tail])


def check_links(policy: Policy, tables: Mapping[str, Table]) -> None:
    """Reject invalid keys, references whose kind differs from that of their key, and contradicting subjects."""
    for reference in references(policy.tables):
        with of_table(reference.other):
            _check_key(reference, tables[reference.other])
        with of_table(reference.table):
            _check_kinds(reference, tables[reference.table], tables[reference.other])
    for name in tables:
        _check_persons(policy, tables, name)


def _check_key(reference: Reference, other: Table) -> None:
    """Reject a key with missing or duplicate values."""
    key = other[reference.key]
    if key.missing or key.suppressed:
        raise PolicyError(
            "key-missing",
            "Other tables refer to the column '{key}', which is empty in some records. The first is record {first:,}.",
            remedy="Fill it in, or remove these records.",
            key=reference.key,
            first=int(np.argmax(other.codes(reference.key) >= len(key.values))) + 1,
        )
    twice = int(np.count_nonzero(other.counts(reference.key) > 1))
    if twice:
        raise PolicyError(
            "key-not-unique",
            "Other tables refer to the column '{key}', whose values must be unique. {values:,} of them identify "
            "several records. The first repetition is record {first:,}.",
            remedy="Remove the repeated records, or correct their keys.",
            key=reference.key,
            values=twice,
            first=_first_repetition(other.codes(reference.key)) + 1,
        )


def _check_kinds(reference: Reference, table: Table, other: Table) -> None:
    """Reject a reference whose kind differs from that of its key."""
    column, key = table[reference.column], other[reference.key]
    if column.kind is not key.kind and len(column.values) and len(key.values):
        raise PolicyError(
            "reference-kinds",
            "'{table}.{column}' is of type {kind}, and '{other}.{key}' of type {other_kind}.",
            remedy="Both must be written alike: 7 differs from 7.0. Read both columns as text (import option text).",
            table=reference.table,
            column=reference.column,
            kind=column.kind,
            other=reference.other,
            key=reference.key,
            other_kind=key.kind,
        )


def _first_repetition(codes: NDArray[np.unsignedinteger[Any]]) -> int:
    """Return the first record whose code an earlier record has."""
    repeated = np.ones(len(codes), bool)
    repeated[np.unique(codes, return_index=True)[1]] = False
    return int(np.argmax(repeated))


@dataclass(frozen=True, slots=True)
class Whose:
    """Path from a record to its individual: the references to follow, and the subject column of the last table."""

    steps: tuple[Reference, ...]
    table: str
    column: str

    def records(self, records: Records, link: Callable[[Reference], Records]) -> Records:
        """Return the records of the last table that the given records lead to."""
        for step in self.steps:
            records = link(step)[records]
        return records


def whose(policy: Policy, columns: Mapping[str, Collection[str]], name: str) -> Whose | None:
    """Return the path from the records of a table to their individuals: its own subject column, or a reference.

    Return None if there is no path.

    >>> tables = {"people": {}, "stays": {"refers": {"who": "people.id"}}}
    >>> policy = Policy(version=1, data={"subject": "id"}, tables=tables)
    >>> whose(policy, {"people": ["id"], "stays": ["who"]}, "stays").steps
    (Reference(table='stays', column='who', other='people', key='id'),)
    """
    subject = policy.of(name).data.subject
    if subject is not None and subject in columns[name]:
        return Whose((), name, subject)
    way = by_reference(policy, columns, name)
    if len(way) > 1:
        raise PolicyError(
            "ambiguous-subject",
            "The table '{table}' refers to several tables that identify individuals.",
            remedy=Setting("tables.{table}.subject"),
            table=name,
        )
    return next(iter(way), None)


def check_subjects(policy: Policy, tables: Mapping[str, Table]) -> None:
    """Refuse subjects that a table does not have, and references between tables without any subject.

    Without a subject, the stays of a patient would count as different individuals.
    """
    for name, settings in policy.tables.items():
        if settings.subject is not None and settings.subject not in tables[name]:
            raise PolicyError(
                "subject-not-in-table",
                "The table '{table}' has no column '{column}', which the policy names as its subject.",
                remedy=by("Correct it", Setting("tables.{table}.subject")),
                table=name,
                column=settings.subject,
            )
    if policy.data.subject is not None and all(policy.data.subject not in table for table in tables.values()):
        names = dict.fromkeys(column for table in tables.values() for column in table.names)
        raise PolicyError(
            "subject-not-in-dataset",
            "No table has the column '{column}', which the policy names as the subject.",
            remedy=did_you_mean(policy.data.subject, names) or by("Correct it", Setting("data.subject")),
            column=policy.data.subject,
        )
    named = policy.data.subject or any(settings.subject for settings in policy.tables.values())
    linked = references(policy.tables)
    if linked and not named:
        raise PolicyError(
            "no-subject-of-dataset",
            "Tables refer to each other, and no column identifies individuals: several records of an individual would "
            "count as different individuals.",
            remedy=by("Name the column of the table of individuals", Setting(f"tables.{linked[0].other}.subject")),
        )


def by_reference(policy: Policy, columns: Mapping[str, Collection[str]], name: str) -> list[Whose]:
    """Return all paths that lead by references from the records of a table to their individuals."""
    own = [reference for reference in references(policy.tables) if reference.table == name]
    return [
        Whose((reference, *far.steps), far.table, far.column)
        for reference in own
        if (far := whose(policy, columns, reference.other)) is not None
    ]


def _check_persons(policy: Policy, tables: Mapping[str, Table], name: str) -> None:
    """Reject records whose own subject column and whose references identify different individuals."""
    columns = {other: table.names for other, table in tables.items()}
    own = whose(policy, columns, name)
    if own is None or own.steps:
        return
    _check_target(policy, columns, name, own.column)
    where, table = domain(policy.tables, name, own.column), tables[name]
    ways = by_reference(policy, columns, name)
    chosen = any(domain(policy.tables, way.table, way.column) == where for way in ways)  # one of several references
    mine = np.array(table[own.column].labels().to_pylist(), object)[table.codes(own.column)]
    for way in ways:
        if chosen and domain(policy.tables, way.table, way.column) != where:
            continue
        records = way.records(np.arange(table.records), lambda reference: _linked(reference, tables))
        labels = np.array([*tables[way.table][way.column].labels().to_pylist(), None], object)
        codes = np.append(tables[way.table].codes(way.column).astype(np.intp), len(labels) - 1)
        differ = int(np.count_nonzero((labels[codes[records]] != mine) & (records >= 0)))
        if differ:
            raise PolicyError(
                "contradicting-subjects",
                "In {records:record} of the table '{table}', '{column}' identifies another individual than the "
                "record that '{reference}' refers to.",
                remedy=either("Correct these records", "remove the subject of this table", "remove the reference"),
                records=differ,
                table=name,
                column=own.column,
                reference=way.steps[0].column,
            )


def _check_target(policy: Policy, columns: Mapping[str, Collection[str]], name: str, subject: str) -> None:
    """Reject a subject that refers to a table whose key identifies no individuals, such as wards."""
    for reference in references(policy.tables):
        refers = (reference.table, reference.column) == (name, subject)
        if refers and whose(policy, columns, reference.other) is None:
            raise PolicyError(
                "subject-of-no-individuals",
                "The subject '{column}' refers to the table '{other}', in which no column identifies individuals.",
                remedy=either(
                    by("Correct it", Setting("tables.{table}.subject")),
                    by("if that table lists individuals", Setting("tables.{other}.subject", reference.key)),
                ),
                table=name,
                column=subject,
                other=reference.other,
            )


def _linked(reference: Reference, tables: Mapping[str, Table]) -> Records:
    link = named_records(tables[reference.table], reference.column, tables[reference.other], reference.key)
    return np.append(link, -1)  # a record without a reference leads nowhere
