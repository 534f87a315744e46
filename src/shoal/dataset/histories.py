"""Histories: all records of a person, across tables."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from shoal.kernels.translation import narrowest
from shoal.table.column import Column
from shoal.table.compaction import compacted
from shoal.table.kind import Kind
from shoal.table.raw import Encoded
from shoal.table.table import Source, Table


def alone(tables: Iterable[tuple[Encoded, Encoded]]) -> tuple[int, int]:
    """Return the number of persons who are unique given all their records, and the number of persons.

    ``tables``: for each table, the person and the equivalence class of each record.

    >>> import shoal
    >>> from shoal.table.raw import Encoded
    >>> table = shoal.read({"who": [1, 2, 2, 3], "sex": ["f", "m", "m", "f"]})
    >>> alone([tuple(Encoded(table[name], table.codes(name)) for name in ("who", "sex"))])
    (1, 3)
    """
    pairs = [(person, shown) for person, shown in tables if len(shown.codes)]
    if not pairs:
        return 0, 0
    people: dict[str | None, int] = {}
    persons, classes, first = [], [], 0
    for person, shown in pairs:
        numbers = [people.setdefault(label, len(people)) for label in person.column.labels().to_pylist()]
        persons.append(np.array(numbers)[person.codes])
        classes.append(shown.codes.astype(np.int64) + first)  # classes of different tables are distinct
        first += shown.column.size
    who, what = np.concatenate(persons), np.concatenate(classes)
    columns = {"person": who, "class": what, "times": _times(who, what)}
    encoded = [_numbers(name, values) for name, values in columns.items()]
    profiles = Table.of(encoded, len(who), Source()).assign(subject="person").profiles(["class", "times"])
    return int(profiles.counts[profiles.counts == 1].sum()), int(profiles.counts.sum())


def smallest_group(history: tuple[Encoded, Encoded], key: Encoded) -> int:
    """Return the smallest number of persons with the same class and the same value of a key.

    >>> import shoal
    >>> from shoal.table.raw import Encoded
    >>> table = shoal.read({"who": [1, 2, 3], "sex": ["f", "f", "f"], "ward": ["A", "A", "B"]})
    >>> person, shown, ward = (Encoded(table[name], table.codes(name)) for name in ("who", "sex", "ward"))
    >>> smallest_group((person, shown), ward)
    1
    """
    person, shown = history
    if not len(shown.codes):
        return 0
    group = shown.codes.astype(np.int64) * key.column.size + key.codes
    pairs = np.unique(np.stack([group, person.codes.astype(np.int64)]), axis=1)
    return int(np.unique(pairs[0], return_counts=True)[1].min())


def classes_of(table: Table) -> Encoded:
    """Return the equivalence class of each record, as a number."""
    rows = table.distinct(table.quasi)
    numbers = np.arange(len(rows), dtype=narrowest(max(len(rows), 1)))
    column = Column("class", Kind.INTEGER, pa.array(np.arange(len(rows))))
    return Encoded(column, table.engine.expand(rows, numbers))


def _times(persons: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return, for each record, the number of preceding records of the same person and class."""
    order = np.lexsort((classes, persons))
    new = np.r_[True, (np.diff(persons[order]) != 0) | (np.diff(classes[order]) != 0)]
    begins = np.flatnonzero(new)
    times = np.empty(len(order), np.int64)
    times[order] = np.arange(len(order)) - np.repeat(begins, np.diff(np.r_[begins, len(order)]))
    return times


def _numbers(name: str, values: np.ndarray) -> Encoded:
    size = int(values.max()) + 1
    return Encoded(*compacted(Column(name, Kind.INTEGER, pa.array(np.arange(size))), values.astype(narrowest(size))))
