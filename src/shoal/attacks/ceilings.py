"""Ceilings: the success of the same attacks on the original, and where all quasi-identifiers are suppressed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal.analyses.estimate import Estimate
from shoal.attacks.attack import Attack
from shoal.attacks.battery import Attacked, battery
from shoal.attacks.scene import Scene
from shoal.progress import Hook
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.raw import Encoded
from shoal.table.table import Table


def with_ceilings(attacked: Attacked, scene: Scene, tried: Sequence[Attack], progress: Hook) -> Attacked:
    """Return results with the success of the same attacks on the original and on a fully suppressed release.

    The first is the most that an attack can achieve on these data, the second what needs no quasi-identifier. An attack
    that fails on the original says nothing about a release.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "dx": ["flu", "ms", "flu", "flu"]}
    >>> coarse = {**data, "age": ["30-39", "30-39", "70-79", "70-79"]}
    >>> found = shoal.attack(data, coarse, quasi="age", sensitive="dx", attacks="linkage", ceilings=True).results[0]
    >>> found.floor.value, found.success.value, found.ceiling.value
    (0.25, 0.5, 1.0)
    """
    plain = _measured(scene, _shown(scene), tried, progress)
    blank = _measured(scene, _blank(scene), tried, progress)
    results = [
        replace(
            result,
            ceiling=plain.get((result.attack, result.variant, result.column)),
            floor=blank.get((result.attack, result.variant, result.column)),
        )
        for result in attacked.results
    ]
    return replace(attacked, results=tuple(results))


def _measured(
    scene: Scene, release: Table, tried: Sequence[Attack], progress: Hook
) -> Mapping[tuple[str, str, str | None], Estimate]:
    """Return the success of each attack on another release of all records."""
    other = Scene.of(scene.original, release, hierarchies=scene.hierarchies, seed=scene.seed)
    other = replace(
        other, truth=np.arange(scene.original.records), most=scene.most, requirements=scene.requirements,
        progress=progress,
    )  # fmt: skip
    results = battery(other, tried, ()).results
    return {(result.attack, result.variant, result.column): result.success for result in results}


def _shown(scene: Scene) -> Table:
    """Return the released columns of the original."""
    return scene.original.only([name for name in scene.original.names if name in scene.cells])


def _blank(scene: Scene) -> Table:
    """Return the released columns of the original, with suppressed quasi-identifiers."""
    nothing = np.zeros(scene.original.records, np.uint8)
    columns = [
        Encoded(Column(name, Kind.TEXT, pa.array([], pa.string()), suppressed=True), nothing)
        if name in scene.original.quasi
        else Encoded(scene.original[name], scene.original.codes(name))
        for name in _shown(scene).names
    ]
    return Table.of(columns, scene.original.records, scene.original.source)
