"""Histories: all released records of a person, across tables."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from shoal.kernels.translation import narrowest
from shoal.release.columns import compacted
from shoal.release.promise import Kin
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.raw import Encoded
from shoal.table.table import Source, Table


def alone(tables: Iterable[Kin]) -> tuple[int, int]:
    """Return the number of persons who are unique given all their records, and the number of persons."""
    classes_of = [(kin.whose, kin.shows.classes) for kin in tables]
    pairs = [
        (person, shown) for person, shown in classes_of if person is not None and shown is not None and len(shown.codes)
    ]
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
