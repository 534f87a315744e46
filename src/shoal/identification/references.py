"""Recognition of references between tables: columns whose values are keys of another table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import pyarrow.compute as pc

from shoal.identification.subject import names_persons
from shoal.identification.vocabulary import tokens
from shoal.policy.references import Reference
from shoal.table.column import Column, as_text
from shoal.table.kind import Kind
from shoal.table.table import Table
from shoal.words import counted

_KEYS = frozenset({Kind.TEXT, Kind.INTEGER, Kind.CATEGORY})
_MOST_ORPHANS = 0.05  # maximum share of the values of a reference that are no keys
_TELLING = 10  # minimum number of texts that only keys of another table can be, whatever the name of the column
_SHORT = 3  # minimum number of letters of a short form
_NUMBER = frozenset({"id", "no", "nr", "num", "number", "key", "code", "pk", "fk"})  # words that name no table


@dataclass(frozen=True, slots=True, eq=False)
class FoundReference:
    """A reference between tables, with the number of records that refer to no record."""

    reference: Reference
    orphans: int

    def __str__(self) -> str:
        lost = "" if not self.orphans else f" ({counted(self.orphans, 'record')} without a valid reference)"
        return f"{self.reference}{lost}"


def found_references(tables: Mapping[str, Table]) -> tuple[FoundReference, ...]:
    """Return the references between tables: each column refers to at most one table, and there is no circle.

    A key identifies each record of its table. The values of a reference are keys, but for a few; and it has the name of
    the key, or that of its table, or at least ten different texts.

    >>> import shoal
    >>> data = {"patients": {"id": [7, 8, 9]}, "stays": {"patient_id": [7, 7, 9], "ward": ["A", "B", "A"]}}
    >>> tables = {name: shoal.read(columns) for name, columns in data.items()}
    >>> [str(reference) for reference in found_references(tables)]
    ['stays.patient_id → patients.id']
    """
    keys = [(name, column) for name, table in tables.items() for column in table.columns if _is_key(table, column)]
    candidates = [
        candidate
        for name, table in tables.items()
        for column in table.columns
        if (candidate := _best(name, column, keys, tables)) is not None
    ]
    return tuple(_without_circles(candidates, tables))


def _is_key(table: Table, column: Column) -> bool:
    """Return whether a column identifies each record."""
    unique = len(column.values) == table.records > 0
    return unique and column.kind in _KEYS and not column.missing and not column.suppressed


def _best(
    name: str, column: Column, keys: list[tuple[str, Column]], tables: Mapping[str, Table]
) -> FoundReference | None:
    """Return the reference of a column, to the smallest table whose keys fit best."""
    fitting: list[tuple[tuple[int, int, int], int, FoundReference]] = []
    for other, key in keys:
        if other == name or column.kind is not key.kind or not len(column.values):
            continue
        named = _named_alike(column.name, other, key.name)
        telling = column.kind is Kind.TEXT and len(column.values) >= _TELLING
        if not (named or telling) or (_is_key(tables[name], column) and not _is_primary(tables, other, name)):
            continue
        orphans = _orphans(tables[name], column, key)
        if orphans <= _MOST_ORPHANS * tables[name].records:
            reference = FoundReference(Reference(name, column.name, other, key.name), orphans)
            fitting.append(((orphans, -named, tables[other].records), len(fitting), reference))
    return min(fitting)[2] if fitting else None


def _named_alike(column: str, table: str, key: str) -> int:
    """Return how well a name fits a key: 2 for the name of its table, beside words for numbers, 1 for its own.

    Also 1 for a short form of the name of the table, and if both suggest individuals.

    >>> _named_alike("patient_id", "patients", "id"), _named_alike("stay", "lab", "stay"), _named_alike("age", "a", "")
    (2, 1, 0)
    >>> _named_alike("pat_ref", "patients", "id"), _named_alike("pid", "patients", "id")
    (1, 1)
    """
    words = [word for word in tokens(column) if word not in _NUMBER]
    of_table = [word.removesuffix("s") for word in tokens(table)]
    if words and [word.removesuffix("s") for word in words] == of_table:
        return 2
    if any(len(word) >= _SHORT and name.startswith(word) for word in words for name in of_table):
        return 1
    if names_persons(column) and names_persons(table):
        return 1
    return int(column.lower() == key.lower() and bool(words or len(key) > 2))


def _is_primary(tables: Mapping[str, Table], other: str, name: str) -> bool:
    """Return whether one of two tables with the same key may be the one that the other refers to: the larger one."""
    places = list(tables)
    larger = tables[other].records > tables[name].records
    return larger or (tables[other].records == tables[name].records and places.index(other) < places.index(name))


def _orphans(table: Table, column: Column, key: Column) -> int:
    """Return the number of records whose value is not a key."""
    values = as_text(column.values)
    there = pc.is_in(values, value_set=as_text(key.values)).to_numpy(zero_copy_only=False)
    counts = table.counts(column.name)
    return int(counts[: len(there)][~there].sum()) + int(counts[len(there) :].sum())


def _without_circles(candidates: list[FoundReference], tables: Mapping[str, Table]) -> Iterator[FoundReference]:
    """Yield references, except those that would close a circle."""
    taken: list[tuple[str, str]] = []
    for candidate in candidates:
        pair = candidate.reference.table, candidate.reference.other
        if not _is_circular([*taken, pair], tables):
            taken.append(pair)
            yield candidate


def _is_circular(pairs: list[tuple[str, str]], tables: Mapping[str, Table]) -> bool:
    sorter: TopologicalSorter[str] = TopologicalSorter({name: [] for name in tables})
    for name, other in pairs:
        sorter.add(name, other)
    try:
        sorter.prepare()
    except CycleError:
        return True
    return False
