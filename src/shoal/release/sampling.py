"""Sampling: a release of some persons only, so that nobody can be sure that somebody is in it.

An adversary who does not know who is in the release (a journalist) looks for a person among all who could be: the
original table. The class that counts then is that of the original, which is larger.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes
from shoal.release.columns import compacted
from shoal.release.drawing import drawn_numbers
from shoal.table.raw import Encoded
from shoal.table.role import Role
from shoal.table.table import Table


def sampled(table: Table, fraction: float, key: bytes) -> tuple[Table, NDArray[np.intp]]:
    """Draw a share of the persons, with all their records, in the order of the table; return also which records.

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
    """Return a table of some records, and which ones these are."""
    encoded = [_taken(table, name, records) for name in table.names]
    roles: dict[str, list[str]] = {}
    for name, role in table.roles.items():
        roles.setdefault(role, []).append(name)
    return Table.of(encoded, len(records), table.source).assign(**roles), records


def _taken(table: Table, name: str, records: NDArray[np.intp]) -> Encoded:
    """Take records of a column; it keeps its values, for hierarchies are about all of them, unless it names persons."""
    column, codes = table[name], np.ascontiguousarray(table.codes(name)[records])
    named = table.roles.get(name) in {Role.SUBJECT, Role.HOUSEHOLD}
    return Encoded(*compacted(column, codes)) if named else Encoded(column, codes)


def _persons(table: Table) -> NDArray[np.int64]:
    """Number the person of each record."""
    if table.subject is None:
        return np.arange(table.records)
    return np.asarray(np.unique(table.codes(table.subject), return_inverse=True)[1])


@dataclass(frozen=True, slots=True)
class Effect:
    """The highest and the mean probability of finding a released person, for those who know that he is in, or not."""

    prosecutor: tuple[Fraction, float]
    journalist: tuple[Fraction, float]


def effect(
    whole: Table, records: NDArray[np.intp], hierarchies: Mapping[str, Hierarchy], scheme: Mapping[str, int]
) -> Effect | None:
    """Compare the classes of released records with those that the whole table has under the same scheme.

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
    """Count the persons in each class."""
    pairs = np.unique(np.stack([classes.astype(np.int64), persons]), axis=1)
    return np.bincount(pairs[0], minlength=number).astype(np.int64)


def _risk(released: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[Fraction, float]:
    there = released > 0
    mean = float((released[there] / sizes[there]).sum() / released[there].sum())
    return Fraction(1, int(sizes[there].min())), mean
