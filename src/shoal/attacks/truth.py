"""Truth: which released record was whose. The adversary does not know it; who judges an attack must."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.scene import Scene
from shoal.kernels.grouping import group_rows
from shoal.recoding.matching import match
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.table.united import United

_MOST = 0.5  # of the released records must be somebody's, or nothing is known


def by_key(original: Table, release: Table, key: Sequence[str]) -> NDArray[np.intp] | None:
    """Return the released record of each original one, by columns that name both; −1 if there is none."""
    rows = match(original, release, tuple(key)).rows
    return None if rows is None else rows.astype(np.intp)


def by_content(scene: Scene) -> NDArray[np.intp] | None:
    """Return the same from what records show: each goes to one that covers it in all columns, and to no other.

    Records that show the same in everything are as good as each other. None if most released records are nobody's, as
    where values were changed.

    >>> import shoal
    >>> data = {"age": [31, 71, 34], "dx": ["flu", "ms", "gout"]}
    >>> before = shoal.read(data).assign(quasi="age", sensitive="dx")
    >>> release = shoal.read({"age": ["30-39", "30-39", "71"], "dx": ["gout", "flu", "ms"]})
    >>> by_content(Scene.of(before, release)).tolist()
    [1, 2, 0]
    """
    columns = tuple(scene.cells)
    rows = scene.rows(columns)
    taken = scene.covering(columns, rows).assigned([scene.values(name) for name in columns])
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


def shared(original: Table, register: Table) -> list[str]:
    """Return the columns that both have and by which a person can be known: names, and what is generally known."""
    roles = (Role.SUBJECT, Role.DIRECT, Role.QUASI)
    return [name for role in roles for name in original.with_role(role) if name in register]


def alike(original: Table, register: Table, names: Sequence[str]) -> NDArray[np.intp]:
    """Return the original record of each person of a register who is like nobody else there in some columns, or −1.

    >>> import shoal
    >>> ours, theirs = shoal.read({"name": ["Ann", "Bob"]}), shoal.read({"name": ["Bob", "Cid", "Ann", "Ann"]})
    >>> alike(ours, theirs, ["name"]).tolist()
    [1, -1, -1, -1]
    """
    united = [United.of([original[name], register[name]]) for name in names]
    codes = [
        np.concatenate([held.places[0][original.codes(name)], held.places[1][register.codes(name)]])
        for held, name in zip(united, names, strict=True)
    ]
    groups = group_rows(codes, [held.column.size for held in united], len(codes[0]))
    mine, theirs = groups.ids[: original.records], groups.ids[original.records :]
    once = np.bincount(theirs, minlength=len(groups)) == 1
    first = np.full(len(groups), -1, np.intp)
    first[mine[::-1]] = np.arange(original.records)[::-1]
    return np.where(once[theirs], first[theirs], -1)
