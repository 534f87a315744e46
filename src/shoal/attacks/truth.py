"""Truth: whom the entries of a register are about. The adversary does not know it; who judges an attack must."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import group_rows
from shoal.recoding.content import naming_columns
from shoal.table.table import Table
from shoal.table.united import United

_APART = 0.95  # of the records differ in a column that names persons


def in_register(original: Table, register: Table, key: Sequence[str]) -> NDArray[np.intp] | None:
    """Return a record of the person whom each entry of a register is about, −1 if that is nobody in the original.

    By ``key``, or by the columns that name persons, or else by what is generally known; None if there is nothing. Where
    several are alike in all of that, one entry goes to one person: for whoever cannot tell them apart it is the same.

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
    """Tell whether columns name persons: the original's differ there, and the register's do who differ elsewhere."""
    different = len(register.distinct([*named, *known]))
    return _are_apart(original, named) and len(register.distinct(named)) >= _APART * different


def _enough(original: Table, register: Table, named: list[str], known: list[str]) -> list[str]:
    """Return as few columns as tell people apart, the ones that are always filled in and have most values first."""
    chosen = list(named)
    for name in sorted(known, key=lambda name: (original[name].missing, -len(original[name].values))):
        if chosen and _are_apart(register, chosen):
            break
        chosen.append(name)
    return chosen


def _naming_both(original: Table, register: Table) -> list[str]:
    """Return the columns of both that name persons: as is said, or for they differ from person to person."""
    naming = [name for name in naming_columns(original) if name in register]
    if naming:
        return naming
    known = {*original.quasi, *original.sensitive}
    plain = [name for name in original.names if name in register and name not in known and original[name].is_text]
    return [name for name in plain if _are_apart(original, [name]) and _are_apart(register, [name])]


def _are_apart(table: Table, names: Sequence[str]) -> bool:
    """Tell whether nearly all persons differ in some columns."""
    return len(table.distinct(names)) >= _APART * len(_first_records(table))


def _alike(original: Table, register: Table, names: Sequence[str], *, one_each: bool) -> NDArray[np.intp]:
    """Return a record of the person who is like each entry in some columns; ``one_each``: no person has two entries."""
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
    """Return a record of each person."""
    if table.subject is None:
        return np.arange(table.records)
    return np.sort(np.unique(table.codes(table.subject), return_index=True)[1])


def _places(groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how many of the same group come before each."""
    order = np.argsort(groups, kind="stable")
    places = np.zeros(len(groups), np.intp)
    places[order] = np.arange(len(groups)) - np.searchsorted(groups[order], groups[order])
    return places
