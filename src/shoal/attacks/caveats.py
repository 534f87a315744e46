"""Caveats: what a reader of the results of attacks should know."""

from collections.abc import Iterator

import numpy as np

from shoal.attacks.scene import Scene
from shoal.kernels.grouping import group_rows
from shoal.table.kind import Kind
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.words import counted, listed

_ALIKE = 0.9  # of people who are said not to be in the data are like somebody who is: then they are


def notes(scene: Scene, how: str, register: Table | None = None) -> Iterator[str]:
    """Yield the notes on an attacked scene; ``how``: the sentence on record matching."""
    yield _matched(scene, how)
    if len(scene.targets) < len(scene.insiders):
        yield f"{len(scene.targets):,} of {len(scene.insiders):,} persons are attacked, drawn by chance."
    if scene.original.subject is None:
        yield "No column says whose row it is: every record is taken for a person."
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
        yield f"The release lacks {listed(scene.hidden)}: who it is about is not sought by that, but reconstructed."
    naming = [name for name in scene.original.with_role(Role.DIRECT) if name in scene.release]
    if naming:
        yield f"The release still has columns that name persons: {listed(naming)}. No attack is needed there."
    for name, cells in scene.cells.items():
        if cells.unread:
            yield (
                f"In column '{name}', {counted(cells.unread, 'released record')} of {scene.release.records:,} "
                f"have a text that could not be understood and counts as suppressed: give a hierarchy that has it."
            )
        elif scene.original[name].kind is Kind.TEXT and scene.release[name].kind.numeric:
            yield f"Column '{name}' holds numbers in the release, but not in the original: are the two in their places?"


def _of_outsiders(scene: Scene) -> Iterator[str]:
    if scene.outsiders is None:
        yield "Without people who are not in the data, what is learned about people in general counts as success, too."
        return
    lacking = [name for name in (*scene.known, *scene.secret) if name not in scene.outsiders.codes]
    if lacking:
        yield f"The table of people who are not in the data lacks {listed(lacking)}: some attacks have no control."
    shared = [name for name in scene.cells if name in scene.outsiders.codes]
    if shared and len(scene.outsiders):
        codes = [np.concatenate([scene.insiders.codes[name], scene.outsiders.codes[name]]) for name in shared]
        sizes = [scene.columns[name].size for name in shared]
        groups = group_rows(codes, sizes, len(codes[0])).ids
        inside, outside = groups[: len(scene.insiders)], groups[len(scene.insiders) :]
        alike = float(np.isin(outside, inside).mean())
        if alike >= _ALIKE:
            yield (
                f"{alike:.0%} of the people who are not in the data are like somebody in them in all "
                f"{counted(len(shared), 'column')}: if they are the same, controls mean nothing."
            )


def _of_register(scene: Scene, register: Table) -> Iterator[str]:
    """Tell what keeps a register from being linked."""
    known = [name for name in scene.known if name in register]
    if not known:
        yield "The register has none of the quasi-identifiers of the release: nobody can be linked with it."
    elif scene.truth is None:
        yield "Whose the released records are is not known: whether links with the register are right cannot be told."
    elif scene.whose is None or not (scene.whose >= 0).any():
        yield "Nobody of the original is found in the register: give a key, a column that names persons in both."
    for name in known:
        mine = scene.columns[name]
        people = scene.register.codes[name] if scene.register is not None else np.zeros(0, np.intp)
        inside = np.isin(people, np.unique(scene.insiders.codes[name]))
        if len(people) and len(mine.values) and not inside.any():
            yield f"No value of column '{name}' of the register is in the data: is it written in another way there?"
