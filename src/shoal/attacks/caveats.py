"""Caveats: notes for the reader of the results of attacks."""

from collections.abc import Iterator

import numpy as np

from shoal.attacks.scene import Scene
from shoal.kernels.grouping import group_rows
from shoal.table.kind import Kind
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.words import counted, listed, share

_ALIKE = 0.9  # share of the control group that equals individuals of the data, from which on a note warns


def notes(scene: Scene, how: str, register: Table | None = None) -> Iterator[str]:
    """Yield the notes on an attacked scene; ``how``: the sentence on record matching."""
    yield from _of_columns(scene)
    yield _matched(scene, how)
    if register is not None:
        yield from _of_register(scene, register)
    yield from _of_outsiders(scene)
    if scene.original.subject is None:
        yield "No subject column is set: every record is counted as an individual."
    if scene.hidden:
        yield f"Not in the release, and therefore not used to find records: {listed(scene.hidden)}."
    if len(scene.targets) < len(scene.insiders):
        yield f"{len(scene.targets):,} of {len(scene.insiders):,} individuals are targeted, chosen at random."


def _matched(scene: Scene, how: str) -> str:
    if scene.truth is None:
        return how
    number = int(np.count_nonzero(scene.truth >= 0))
    return f"{how.removesuffix('.')}: {number:,} of {scene.release.records:,} released records."


def _of_columns(scene: Scene) -> Iterator[str]:
    """Yield notes on columns that the release lacks, should not contain, or shows in unreadable form."""
    naming = [name for name in scene.original.with_role(Role.DIRECT) if name in scene.release]
    if naming:
        yield f"The release contains direct identifiers: {listed(naming)}."
    numeric = [
        name
        for name, cells in scene.cells.items()
        if not cells.unread and scene.original[name].kind is Kind.TEXT and scene.release[name].kind.numeric
    ]
    if numeric:
        yield f"Numeric in the release, but not in the original: {listed(numeric)}. Check the order of the tables."
    unread = {name: cells.unread for name, cells in scene.cells.items() if cells.unread}
    if unread:
        columns = ", ".join(f"'{name}' ({counted(records, 'record')})" for name, records in unread.items())
        yield f"Labels that are neither original values nor in a hierarchy, counted as suppressed: {columns}."


def _of_outsiders(scene: Scene) -> Iterator[str]:
    if scene.outsiders is None:
        yield "Without a control group of other individuals, general knowledge cannot be separated from disclosure."
        return
    lacking = [name for name in (*scene.known, *scene.secret) if name not in scene.outsiders.codes]
    if lacking:
        yield f"The control group lacks {listed(lacking)}, so some attacks have no control."
    shared = [name for name in scene.cells if name in scene.outsiders.codes]
    if shared and len(scene.outsiders):
        codes = [np.concatenate([scene.insiders.codes[name], scene.outsiders.codes[name]]) for name in shared]
        sizes = [scene.columns[name].size for name in shared]
        groups = group_rows(codes, sizes, len(codes[0])).ids
        inside, outside = groups[: len(scene.insiders)], groups[len(scene.insiders) :]
        alike = float(np.isin(outside, inside).mean())
        if alike >= _ALIKE:
            yield (
                f"{share(alike)} of the control group equal an individual of the data in all "
                f"{counted(len(shared), 'column')}. If they are the same individuals, controls are meaningless."
            )


def _of_register(scene: Scene, register: Table) -> Iterator[str]:
    """Yield notes on obstacles to linkage with a register."""
    known = [name for name in scene.known if name in register]
    if not known:
        yield "The register has none of the quasi-identifiers of the release, so no attack with it was run."
    elif scene.truth is None:
        yield "Released records could not be matched with the original, so links with the register cannot be checked."
    elif scene.whose is None or not (scene.whose >= 0).any():
        yield "No individual of the original is in the register. Give a key that identifies individuals in both."
    foreign = [name for name in known if _is_foreign(scene, name)]
    if foreign:
        yield f"No value of the register occurs in the data: {listed(foreign)}. Check how both are written."


def _is_foreign(scene: Scene, name: str) -> bool:
    """Return whether no value of a column of the register occurs in the data."""
    people = scene.register.codes[name] if scene.register is not None else np.zeros(0, np.intp)
    inside = np.isin(people, np.unique(scene.insiders.codes[name]))
    return len(people) > 0 and len(scene.columns[name].values) > 0 and not inside.any()
