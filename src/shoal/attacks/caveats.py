"""Caveats: what a reader of the results of attacks should know."""

from collections.abc import Iterator

import numpy as np

from shoal.attacks.scene import Scene
from shoal.kernels.grouping import group_rows
from shoal.table.kind import Kind
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.words import counted, listed, share

_ALIKE = 0.9  # of people who are said not to be in the data are like somebody who is: then they are


def notes(scene: Scene, how: str, register: Table | None = None) -> Iterator[str]:
    """Yield the notes on an attacked scene; ``how``: the sentence on record matching."""
    yield _matched(scene, how)
    if len(scene.targets) < len(scene.insiders):
        yield f"{len(scene.targets):,} of {len(scene.insiders):,} individuals are targeted, chosen at random."
    if scene.original.subject is None:
        yield "No column is the subject: every record is counted as an individual."
    yield from _of_columns(scene)
    yield from _of_outsiders(scene)
    if register is not None:
        yield from _of_register(scene, register)


def _matched(scene: Scene, how: str) -> str:
    if scene.truth is None:
        return how
    number = int(np.count_nonzero(scene.truth >= 0))
    return f"{how.removesuffix('.')}: {number:,} of {scene.release.records:,} released records."


def _of_columns(scene: Scene) -> Iterator[str]:
    """Tell what the release lacks, what it should not have, and what could not be read."""
    if scene.hidden:
        yield f"Not in the release, and therefore reconstructed instead of matched: {listed(scene.hidden)}."
    naming = [name for name in scene.original.with_role(Role.DIRECT) if name in scene.release]
    if naming:
        yield f"The release contains direct identifiers: {listed(naming)}."
    for name, cells in scene.cells.items():
        if cells.unread:
            yield (
                f"Unreadable texts in column '{name}', counted as suppressed: {counted(cells.unread, 'record')} of "
                f"{scene.release.records:,}. Give a hierarchy that contains them."
            )
        elif scene.original[name].kind is Kind.TEXT and scene.release[name].kind.numeric:
            yield f"Column '{name}' is numeric in the release, but not in the original. Check the order of the tables."


def _of_outsiders(scene: Scene) -> Iterator[str]:
    if scene.outsiders is None:
        yield "Without a control group of individuals outside the data, general knowledge counts as success, too."
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
    """Tell what keeps a register from being linked."""
    known = [name for name in scene.known if name in register]
    if not known:
        yield "The register has none of the quasi-identifiers of the release and cannot be linked."
    elif scene.truth is None:
        yield "Released records could not be matched with the original, so links with the register cannot be checked."
    elif scene.whose is None or not (scene.whose >= 0).any():
        yield "No individual of the original is in the register. Give a key that identifies individuals in both."
    for name in known:
        mine = scene.columns[name]
        people = scene.register.codes[name] if scene.register is not None else np.zeros(0, np.intp)
        inside = np.isin(people, np.unique(scene.insiders.codes[name]))
        if len(people) and len(mine.values) and not inside.any():
            yield f"No value of column '{name}' of the register occurs in the data. Check how both are written."
