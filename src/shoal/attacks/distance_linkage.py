"""Distance linkage: the record that is nearest to what is known of a person."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.analyses.estimate import Estimate
from shoal.attacks.attack import ATTACKS, Attack, Need
from shoal.attacks.distances import CLOSE, Distances
from shoal.attacks.result import Adversary, Criterion, Point, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats

_RANKS = (1, 2, 5, 10, 20, 50, 100)


@ATTACKS.register("distance-linkage")
class DistanceLinkage(Attack):
    """The share of people whose record is the nearest one in the release.

    Finds records also where their values were changed: by noise, rounding, means, swapping. Distances are Gower's; of
    records that are equally near one is taken by chance. Domingo-Ferrer & Torra 2001. Baseline: any record. The curve
    goes over how many of the nearest records are looked at; the median rank of the right one is among the details.

    >>> import shoal
    >>> before = shoal.read({"age": [30, 40, 50], "bmi": [20.0, 25.0, 30.0]}).assign(quasi=["age", "bmi"])
    >>> noisy = shoal.read({"age": [31, 39, 52], "bmi": [20.4, 26.0, 29.0]})
    >>> next(DistanceLinkage().run(Scene.of(before, noisy, truth=np.arange(3)))).success.value
    1.0
    """

    name: ClassVar[str] = "distance-linkage"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY
    needs: ClassVar[frozenset[Need]] = frozenset({Need.KNOWN, Need.TRUTH})

    targets: int = Field(default=1000, ge=1, description="how many people are attacked at most")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Look for the nearest records."""
        people = scene.targets.drawn(self.targets, scene.rng(self.name))
        truth, distances = scene.truth, Distances.of(scene, scene.known)
        if truth is None:
            return
        own, counts = truth[people.records], distances.rows.counts
        nearer, tied = np.zeros(len(people)), np.zeros(len(people))
        for part, apart in distances.to(people):
            mine = apart[np.arange(len(apart)), distances.rows.origin[np.maximum(own[part], 0)]][:, None]
            nearer[part] = (counts * (apart < mine - CLOSE)).sum(axis=1)
            tied[part] = (counts * (np.abs(apart - mine) <= CLOSE)).sum(axis=1)
        there = own >= 0
        within = [_within(rank, nearer, tied) * there for rank in _RANKS]
        everybody = max(scene.release.records, 1)
        yield self.result(
            scene,
            "the nearest record is the right one",
            within[0],
            1 / everybody,
            persons=scene.over_original(people, within[0]),
            axis="nearest records looked at",
            curve=tuple(
                Point(rank, Estimate.share(float(held.mean()), max(len(held), 1)), min(rank / everybody, 1.0))
                for rank, held in zip(_RANKS, within, strict=True)
            ),
            details={"median_rank": float(np.median((nearer + (tied + 1) / 2)[there])) if there.any() else None},
        )


def _within(rank: int, nearer: Floats, tied: Floats) -> Floats:
    """Return how likely the right record is among so many nearest ones; those equally near come in any order."""
    likely: Floats = np.clip((rank - nearer) / np.maximum(tied, 1), 0, 1)
    return likely
