"""Linkability: two parties with different knowledge of a person select the same record."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack
from shoal.attacks.distances import Distances
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.engines.protocol import DistinctRows
from shoal.errors import AttackError
from shoal.recoding.nodes import Floats
from shoal.remedy import Option


@ATTACKS.register("linkability")
class Linkability(Attack):
    """Share of individuals for whom two disjoint sets of attributes lead to the same released record.

    One party knows half of the columns, a second party the other half. Each selects the nearest record by Gower's
    distance; ties are broken at random. If both select the same record, the release links their separate knowledge. Of
    a person with several records, one is used. WP216; Giomi et al. 2023. Baseline: two records drawn at random.
    Control: individuals outside the data.

    ``first``: columns known to the first party (default: every second column).

    >>> import shoal
    >>> before = shoal.read({"age": [30, 40], "sex": ["f", "m"]}).assign(quasi=["age", "sex"])
    >>> next(Linkability().run(Scene.of(before, before))).success.value
    1.0
    """

    name: ClassVar[str] = "linkability"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    bounded_by_size: ClassVar[bool] = True
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY
    baseline_is: ClassVar[str] = "two random records"

    first: list[str] = Field(default=[], description="columns known to the first party")
    targets: int = Field(default=1000, ge=1, description="maximum number of targets")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Split the columns between both parties and search for the nearest records."""
        columns = (*scene.known, *scene.secret)
        first = tuple(self.first or columns[::2])
        second = tuple(name for name in columns if name not in first)
        if not second and not self.first:
            return
        if not second or not set(first) <= set(columns):
            raise AttackError(
                "no-columns", "Linkability requires known columns for both parties.", remedy=Option("first")
            )
        rng = scene.rng(self.name)
        people = scene.targets.drawn(self.targets, rng)
        strangers = scene.strangers(*columns, most=self.targets)
        rows = scene.rows(columns)
        counts = _one_each(scene, rows)
        joined = _joined(scene, people, (first, second), rows, counts)
        yield self.result(
            scene,
            "two adversaries who know different columns select the same record",
            joined,
            1 / max(int(counts.sum()), 1),
            None if strangers is None else _joined(scene, strangers, (first, second), rows, counts),
            people=people,
            persons=scene.over_original(people, joined),
            details={"first": list(first), "second": list(second)},
        )


def _joined(
    scene: Scene,
    people: KnownPeople,
    parties: Sequence[Sequence[str]],
    rows: DistinctRows,
    counts: NDArray[np.int64],
) -> Floats:
    """Return the probability that both parties select the same record, for each individual."""
    there, joined = np.flatnonzero(counts), np.zeros(len(people))
    both = [Distances.of(scene, columns, rows).nearest(people, there) for columns in parties]
    for here, elsewhere in zip(*both, strict=True):
        size = len(here.least)
        chance = [np.bincount(near.who, counts[near.row], size) for near in (here, elsewhere)]
        same = np.isin(*(near.who * len(rows) + near.row for near in (here, elsewhere)))
        joined[here.part] = np.bincount(here.who[same], counts[here.row[same]], size) / (chance[0] * chance[1])
    return joined


def _one_each(scene: Scene, rows: DistinctRows) -> NDArray[np.int64]:
    """Return the number of records of each row if one random record per person is kept."""
    if len(scene.insiders) == scene.original.records or scene.truth is None:
        return rows.counts
    chosen = scene.rng("one record of each").permutation(scene.release.records)
    owner = scene.owners[chosen]
    _, first = np.unique(np.where(owner >= 0, owner, -1 - np.arange(len(owner))), return_index=True)
    return np.bincount(rows.origin[chosen[first]], minlength=len(rows))
