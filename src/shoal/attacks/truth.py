"""Truth: which released record was whose. The adversary does not know it; who judges an attack must."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attacks.scene import Scene
from shoal.kernels.covering import Covering, Sets
from shoal.kernels.grouping import group_rows
from shoal.recoding.matching import match
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.table.united import United

_APART = 0.95  # of the records differ in a column that names persons
_MOST = 0.99  # of the released records must be somebody's, or values were changed and nothing is known


def by_key(original: Table, release: Table, key: Sequence[str]) -> NDArray[np.intp] | None:
    """Return the released record of each original one, by columns that name both; −1 if there is none."""
    rows = match(original, release, tuple(key)).rows
    return None if rows is None else rows.astype(np.intp)


def by_content(scene: Scene) -> NDArray[np.intp] | None:
    """Return the same from what records show: each goes to one that covers it in all columns, and to no other.

    As many as can be are matched, each with what says most. Records that show the same in everything are as good as
    each other. None if some released records are nobody's, as where values were changed.

    >>> import shoal
    >>> data = {"age": [31, 71, 34], "dx": ["flu", "ms", "gout"]}
    >>> before = shoal.read(data).assign(quasi="age", sensitive="dx")
    >>> release = shoal.read({"age": ["30-39", "30-39", "71"], "dx": ["gout", "flu", "ms"]})
    >>> by_content(Scene.of(before, release)).tolist()
    [1, 2, 0]
    """
    named = [name for name in _naming(scene.original) if _goes_on(name, scene)]
    found = _by_content(scene, named)
    return found if found is not None or not named else _by_content(scene, [])  # names may have been dealt out anew


def _by_content(scene: Scene, named: Sequence[str]) -> NDArray[np.intp] | None:
    """Match records by all columns, and by some that name persons."""
    columns = tuple(scene.cells)
    rows = scene.rows((*columns, *named))
    covering = scene.covering(columns, rows)
    said = dict(zip(rows.columns, rows.codes, strict=True))
    united = {name: United.of([scene.original[name], scene.release[name]]) for name in named}
    singles = [_singles(held, said[name]) for name, held in united.items()]
    mine = [held.places[0][scene.original.codes(name)] for name, held in united.items()]
    covering = Covering((*covering.columns, *singles), rows.counts)
    taken = covering.assigned([*(scene.values(name) for name in columns), *mine], scene.telling(rows, columns))
    if np.count_nonzero(taken >= 0) < _MOST * scene.release.records:
        return None
    by_row = np.argsort(rows.origin, kind="stable")
    starts = np.searchsorted(rows.origin[by_row], np.arange(len(rows)))
    found, there = np.full(len(taken), -1, np.intp), np.flatnonzero(taken >= 0)
    order = there[np.argsort(taken[there], kind="stable")]
    row = taken[order]
    among = np.arange(len(order)) - np.searchsorted(row, row)  # how many came before with the same row
    found[order] = by_row[starts[row] + among]
    return found


def _naming(table: Table) -> list[str]:
    """Return the columns that name persons."""
    return [name for role in (Role.SUBJECT, Role.DIRECT) for name in table.with_role(role)]


def _goes_on(name: str, scene: Scene) -> bool:
    """Tell whether the release still has a column that names persons, with the names of the original."""
    if name not in scene.release or scene.release[name].kind is not scene.original[name].kind:
        return False
    ours, theirs = scene.original[name].values, scene.release[name].values
    return len(theirs) > 0 and bool(pc.all(pc.is_in(theirs, ours)).as_py())


def _singles(united: United, codes: NDArray[np.unsignedinteger[Any]]) -> Sets:
    """Return the sets that rows show in a column that names persons: the name itself."""
    size = united.column.size
    return Sets(united.places[1][codes].astype(np.uint32), np.arange(size + 1), np.arange(size, dtype=np.uint32), size)


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
    said = [name for name in _naming(original) if name in register]
    if said:
        return said
    told = {*original.quasi, *original.sensitive}
    plain = [name for name in original.names if name in register and name not in told and original[name].is_text]
    return [name for name in plain if _are_apart(original, [name]) and _are_apart(register, [name])]


def _are_apart(table: Table, names: Sequence[str]) -> bool:
    """Tell whether nearly all persons differ in some columns."""
    return len(table.distinct(names)) >= _APART * len(_first_records(table))


def _alike(original: Table, register: Table, names: Sequence[str], *, one_each: bool) -> NDArray[np.intp]:
    """Return a record of the person who is like each entry in some columns; ``one_each``: no person has two entries."""
    records = _first_records(original)
    united = [United.of([original[name], register[name]]) for name in names]
    codes = [
        np.concatenate([held.places[0][original.codes(name)[records]], held.places[1][register.codes(name)]])
        for held, name in zip(united, names, strict=True)
    ]
    groups = group_rows(codes, [held.column.size for held in united], len(codes[0]))
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
    found = np.zeros(len(groups), np.intp)
    found[order] = np.arange(len(groups)) - np.searchsorted(groups[order], groups[order])
    return found
