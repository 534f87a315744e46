"""Ground truth: the persons that the entries of a register describe.

The adversary does not know it; the evaluation of an attack requires it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import group_rows
from shoal.recoding.content import naming_columns
from shoal.table.table import Table
from shoal.table.united import United

_APART = 0.95  # minimum share of distinct records in columns that identify persons


def in_register(original: Table, register: Table, key: Sequence[str]) -> NDArray[np.intp] | None:
    """Return the record of the original that belongs to the person of each register entry, −1 if there is none.

    Entries are matched by ``key``, otherwise by the columns that identify persons, otherwise by the quasi-identifiers;
    None if there are no such columns. If several persons agree in all of these columns, each entry is assigned to one
    of them: the assignment makes no difference to an adversary who cannot distinguish them.

    >>> import shoal
    >>> ours = shoal.read({"name": ["Ann", "Bob"], "age": [30, 40]}).assign(direct="name", quasi="age")
    >>> in_register(ours, shoal.read({"name": ["Bob", "Cid", "Ann", "Ann"]}), []).tolist()
    [1, -1, 0, 0]
    >>> in_register(ours, shoal.read({"age": [40, 40, 35]}), []).tolist()
    [1, -1, -1]
    """
    named = [name for name in key or _naming_both(original, register) if name in register]
    known = [name for name in original.quasi if name in register]
    if named and (key or _are_names(original, register, named, known)):
        return _alike(original, register, named, one_each=False)
    return (
        _alike(original, register, _enough(original, register, named, known), one_each=True) if named or known else None
    )


def _are_names(original: Table, register: Table, named: list[str], known: list[str]) -> bool:
    """Return whether columns identify persons.

    Nearly all persons of the original must differ in them, and so must nearly all register entries that differ in these
    columns or the quasi-identifiers.
    """
    different = len(register.distinct([*named, *known]))
    return _are_apart(original, named) and len(register.distinct(named)) >= _APART * different


def _enough(original: Table, register: Table, named: list[str], known: list[str]) -> list[str]:
    """Return a small set of columns that distinguishes the entries of the register.

    Columns are added until the entries differ: complete columns first, then by descending number of values.
    """
    chosen = list(named)
    for name in sorted(known, key=lambda name: (original[name].missing, -len(original[name].values))):
        if chosen and _are_apart(register, chosen):
            break
        chosen.append(name)
    return chosen


def _naming_both(original: Table, register: Table) -> list[str]:
    """Return the shared columns that identify persons: by role, or because nearly all their values differ."""
    naming = [name for name in naming_columns(original) if name in register]
    if naming:
        return naming
    known = {*original.quasi, *original.sensitive}
    plain = [name for name in original.names if name in register and name not in known and original[name].is_text]
    return [name for name in plain if _are_apart(original, [name]) and _are_apart(register, [name])]


def _are_apart(table: Table, names: Sequence[str]) -> bool:
    """Return whether nearly all persons differ in the given columns."""
    return len(table.distinct(names)) >= _APART * len(_first_records(table))


def _alike(original: Table, register: Table, names: Sequence[str], *, one_each: bool) -> NDArray[np.intp]:
    """Return a record of the person who agrees with each entry in the given columns.

    ``one_each``: whether at most one entry is assigned to each person.
    """
    records = _first_records(original)
    united = [United.of([original[name], register[name]]) for name in names]
    codes = [
        np.concatenate([pair.places[0][original.codes(name)[records]], pair.places[1][register.codes(name)]])
        for pair, name in zip(united, names, strict=True)
    ]
    groups = group_rows(codes, [pair.column.size for pair in united], len(codes[0]))
    mine, theirs = groups.ids[: len(records)].astype(np.intp), groups.ids[len(records) :].astype(np.intp)
    persons = np.bincount(mine, minlength=len(groups))
    order = np.argsort(mine, kind="stable")
    starts = np.cumsum(persons) - persons
    among = _places(theirs)
    if not one_each:
        among = np.where(persons[theirs] == 1, 0, among)
    unnamed = [register[name].missing_code for name in names]
    nameless = np.logical_or.reduce(
        [
            np.zeros(register.records, bool) if code is None or one_each else register.codes(name) == code
            for name, code in zip(names, unnamed, strict=True)
        ]
    )
    there = (among < persons[theirs]) & ~nameless
    return np.where(there, records[order[np.minimum(starts[theirs] + among, len(order) - 1)]], -1)


def _first_records(table: Table) -> NDArray[np.intp]:
    """Return the first record of each person."""
    if table.subject is None:
        return np.arange(table.records)
    return np.sort(np.unique(table.codes(table.subject), return_index=True)[1])


def _places(groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the number of preceding elements of the same group, for each element."""
    order = np.argsort(groups, kind="stable")
    places = np.zeros(len(groups), np.intp)
    places[order] = np.arange(len(groups)) - np.searchsorted(groups[order], groups[order])
    return places
