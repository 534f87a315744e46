"""Sampling: release of a random share of the persons, so that membership in the release is uncertain.

An adversary who does not know the members of the release (journalist) searches for a person among all candidates: the
original table. The relevant class is then the one in the original, which is at least as large.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes
from shoal.release.drawing import drawn_numbers
from shoal.table.compaction import compacted
from shoal.table.raw import Encoded
from shoal.table.role import Role
from shoal.table.table import Table


def sampled(table: Table, fraction: float, key: bytes) -> tuple[Table, NDArray[np.intp]]:
    """Draw a share of the persons with all their records; return the sample in table order, and its records.

    >>> import shoal
    >>> table = shoal.read({"age": list(range(10))})
    >>> drawn, records = sampled(table, 0.5, b"a key")
    >>> drawn.records, len(records)
    (5, 5)
    """
    persons = _persons(table)
    number = int(persons.max(initial=-1)) + 1
    chosen = np.zeros(number, bool)
    order = np.argsort(drawn_numbers(key, "sample", number), kind="stable")
    chosen[order[: round(fraction * number)]] = True
    return taken(table, np.flatnonzero(chosen[persons]))


def taken(table: Table, records: NDArray[np.intp]) -> tuple[Table, NDArray[np.intp]]:
    """Return a table of the given records, and these records."""
    encoded = [_taken(table, name, records) for name in table.names]
    roles: dict[str, list[str]] = {}
    for name, role in table.roles.items():
        roles.setdefault(role, []).append(name)
    return Table.of(encoded, len(records), table.source).assign(**roles), records


def _taken(table: Table, name: str, records: NDArray[np.intp]) -> Encoded:
    """Take some records of a column.

    The column keeps all its values, because hierarchies refer to them, unless it identifies persons or households.
    """
    column, codes = table[name], np.ascontiguousarray(table.codes(name)[records])
    named = table.roles.get(name) in {Role.SUBJECT, Role.HOUSEHOLD}
    return Encoded(*compacted(column, codes)) if named else Encoded(column, codes)


def _persons(table: Table) -> NDArray[np.int64]:
    """Return the number of the person of each record."""
    if table.subject is None:
        return np.arange(table.records)
    return np.asarray(np.unique(table.codes(table.subject), return_inverse=True)[1])


@dataclass(frozen=True, slots=True)
class Effect:
    """Highest and mean re-identification probability of a released person.

    ``prosecutor``: the adversary knows that the person is in the release. ``journalist``: the adversary does not.
    """

    prosecutor: tuple[Fraction, float]
    journalist: tuple[Fraction, float]


def effect(
    whole: Table, records: NDArray[np.intp], hierarchies: Mapping[str, Hierarchy], scheme: Mapping[str, int]
) -> Effect | None:
    """Compare the class sizes of the released records with those of the whole table under the same scheme.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind_all
    >>> table = shoal.read({"age": [31, 34, 38, 71, 72, 75, 78]})
    >>> ladders = bind_all({"age": {"kind": "interval", "widths": [10]}}, table)
    >>> found = effect(table, np.array([0, 1, 3, 4]), ladders, {"age": 1})
    >>> found.prosecutor[0], found.journalist[0], round(found.journalist[1], 3)
    (Fraction(1, 2), Fraction(1, 3), 0.292)
    """
    if not len(records):
        return None
    nodes = [hierarchies[name].nodes(level)[whole.codes(name)] for name, level in scheme.items()]
    sizes = [len(hierarchies[name].levels[level]) for name, level in scheme.items()]
    classes = group_rows(nodes, sizes, whole.records)
    persons = _persons(whole)
    in_all = _counted(classes.ids, persons, len(classes))
    released = _counted(classes.ids[records], persons[records], len(classes))
    return Effect(_risk(released, released), _risk(released, in_all))


def _counted(classes: Codes, persons: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """Return the number of persons in each class."""
    pairs = np.unique(np.stack([classes.astype(np.int64), persons]), axis=1)
    return np.bincount(pairs[0], minlength=number).astype(np.int64)


def _risk(released: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[Fraction, float]:
    there = released > 0
    mean = float((released[there] / sizes[there]).sum() / released[there].sum())
    return Fraction(1, int(sizes[there].min())), mean
