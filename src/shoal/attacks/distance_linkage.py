"""Distance linkage: re-identification by the record nearest to the known attributes of a person."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.distances import CLOSE, Distances
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.kernels.lookups import Near
from shoal.recoding.nodes import Floats

_RANKS = (1, 2, 5, 10, 20, 50, 100)


@ATTACKS.register("distance-linkage")
class DistanceLinkage(Attack):
    """Share of individuals whose record is the nearest one in the release.

    The attack also re-identifies records with perturbed values: by noise, rounding, means or swapping. The distance is
    Gower's; ties are broken at random. Of a person with several records, any one is correct. Domingo-Ferrer & Torra
    2001. Baseline: a random record. The curve shows the success by number of nearest records considered; the median
    rank of the true record is among the details.

    >>> import shoal
    >>> before = shoal.read({"age": [30, 40, 50], "bmi": [20.0, 25.0, 30.0]}).assign(quasi=["age", "bmi"])
    >>> noisy = shoal.read({"age": [31, 39, 52], "bmi": [20.4, 26.0, 29.0]})
    >>> next(DistanceLinkage().run(Scene.of(before, noisy, truth=np.arange(3)))).success.value
    1.0
    """

    name: ClassVar[str] = "distance-linkage"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    bounded_by_size: ClassVar[bool] = True
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY
    baseline_is: ClassVar[str] = "a random record"
    judges_perturbed: ClassVar[bool] = True
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.TRUTH})

    targets: int = Field(default=1000, ge=1, description="maximum number of targets")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Search for the nearest records of each target."""
        people = scene.targets.drawn(self.targets, scene.rng(self.name))
        distances = Distances.of(scene, scene.known)
        counts, ranked = distances.rows.counts, np.zeros((3, len(people)))
        which, record = scene.own(people)
        for part, apart in distances.to(people):
            mine = slice(*np.searchsorted(which, (part.start, part.stop)))
            ranked[:, part] = _ranked(apart, which[mine] - part.start, distances.rows.origin[record[mine]], counts)
        nearer, tied, own = ranked
        within = [_within(rank, nearer, tied, own) for rank in _RANKS]
        there = own > 0
        chance = scene.by_chance(people)
        yield self.result(
            scene,
            "the nearest record is the true one",
            within[0],
            chance,
            people=people,
            persons=scene.over_original(people, within[0]),
            axis="nearest records considered",
            curve=tuple(
                self.point(rank, shares, 1 - (1 - min(chance, 1.0)) ** rank)
                for rank, shares in zip(_RANKS, within, strict=True)
            ),
            details={"median_rank": float(np.median((nearer + (tied + 1) / 2)[there])) if there.any() else None},
        )


def _ranked(apart: Near, which: NDArray[np.intp], row: NDArray[np.intp], counts: NDArray[np.int64]) -> Floats:
    """For each person, count the records closer than their own nearest record, the ties, and their own among the ties.

    ``which``, ``row``: pairs of a person and the row of one of their own records.
    """
    mine = apart[which, row]
    nearest = np.full(len(apart), np.inf, np.float32)
    np.minimum.at(nearest, which, mine)
    own = np.bincount(which, mine <= nearest[which] + CLOSE, len(apart))
    nearer = (counts * (apart < nearest[:, None] - CLOSE)).sum(axis=1)
    tied = (counts * (np.abs(apart - nearest[:, None]) <= CLOSE)).sum(axis=1)
    return np.stack([nearer, tied, own]).astype(np.float64)


def _within(rank: int, nearer: Floats, tied: Floats, own: Floats) -> Floats:
    """Return the probability that an own record is among the ``rank`` nearest ones; ties come in random order."""
    missed = np.ones(len(tied))
    for drawn in range(rank):  # the probability that no own record is drawn
        left = np.maximum(tied - drawn, 1)
        missed *= np.where(drawn < rank - nearer, np.clip((tied - own - drawn) / left, 0, 1), 1.0)
    return np.where(own > 0, 1 - missed, 0.0)
