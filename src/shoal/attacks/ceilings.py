"""Ceilings: the success of the same attacks on the original, and where all quasi-identifiers are suppressed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal.analyses.estimate import Estimate
from shoal.attacks.attack import Attack
from shoal.attacks.battery import Attacked, battery
from shoal.attacks.scene import Scene
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.raw import Encoded
from shoal.table.table import Table


def with_ceilings(attacked: Attacked, scene: Scene, tried: Sequence[Attack]) -> Attacked:
    """Return results with the success of the same attacks on the original and on a fully suppressed release.

    The first is the most that an attack can achieve on these data, the second what needs no quasi-identifier. An attack
    that fails on the original says nothing about a release. The original is one table, without other releases.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "dx": ["flu", "ms", "flu", "flu"]}
    >>> coarse = {**data, "age": ["30-39", "30-39", "70-79", "70-79"]}
    >>> found = shoal.attack(data, coarse, quasi="age", sensitive="dx", attacks="linkage", ceilings=True).results[0]
    >>> found.floor.value, found.success.value, found.ceiling.value
    (0.25, 0.5, 1.0)
    """
    plain, blank = (_measured(of_all(scene, release), tried) for release in (_shown(scene), _blank(scene)))
    results = [
        replace(
            result,
            ceiling=plain.get((result.attack, result.variant, result.column), result.ceiling),
            floor=blank.get((result.attack, result.variant, result.column)),
        )
        for result in attacked.results
    ]
    return replace(attacked, results=tuple(results))


def of_all(scene: Scene, release: Table) -> Scene:
    """Return the scene of another release, which shows all records of the original in their order."""
    records = np.arange(scene.original.records)
    alone = replace(scene.showing(release), truth=records, is_sure=True)
    return replace(alone, others=(), buckets=(), slices=(), remade=None, shadows=None)


def _measured(scene: Scene, tried: Sequence[Attack]) -> Mapping[tuple[str, str, str | None], Estimate]:
    """Return the success of each attack."""
    return {
        (result.attack, result.variant, result.column): result.success for result in battery(scene, tried, ()).results
    }


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
