"""Membership: inference of whether a person is in the data."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.analyses.area import area_under_curve
from shoal.analyses.estimate import Estimate
from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.distances import Distances
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.kernels.grouping import group_rows
from shoal.recoding.nodes import Floats

_RATES = (0.01, 0.001)  # rates of false alarms


@ATTACKS.register("membership")
class Membership(Attack):
    """Area under the ROC curve for distinguishing individuals in the data from others.

    Membership alone can be sensitive: every person in a cancer register has cancer. Each individual is scored by the
    existence of a candidate record, then by the proximity of the nearest released record, then by the number of records
    at that distance. Success: the probability that an individual in the data has a higher score than one outside, with
    the interval of DeLong et al. 1988; 0.5 is guessing. The advantage (the largest difference between the rates of hits
    and false alarms) and the rate of hits at few false alarms are among the details. Shokri et al. 2017; Carlini et al.
    2022.

    >>> import shoal
    >>> inside = shoal.read({"age": [*range(20, 60)]}).assign(quasi="age")
    >>> outside = shoal.read({"age": [*range(60, 100)]})
    >>> next(Membership().run(Scene.of(inside, inside, outsiders=outside))).success.value
    1.0
    """

    name: ClassVar[str] = "membership"
    adversary: ClassVar[Adversary] = Adversary.STATISTICAL
    criterion: ClassVar[Criterion] = Criterion.SINGLING_OUT
    baseline_is: ClassVar[str] = "a random guess"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.OUTSIDERS})

    targets: int = Field(default=1000, ge=2, description="maximum number of targets, and of controls")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Score individuals in the data and outside."""
        others = scene.strangers(most=self.targets)
        if others is None:
            return
        people = scene.targets.drawn(self.targets, scene.rng(self.name))
        inside, outside = _scores(scene, people), _scores(scene, others)
        ranks = _ranks(np.concatenate([inside, outside]))
        mine, theirs = ranks[: len(inside)], ranks[len(inside) :]
        cuts = np.unique(ranks)
        gaps = [(mine >= cut).mean() - (theirs >= cut).mean() for cut in cuts[:: max(len(cuts) // 500, 1)]]
        yield self.told_apart(
            scene,
            "an individual in the data is distinguished from one outside",
            ranks,
            np.arange(len(ranks)) < len(inside),
            persons=scene.over_original(people, np.searchsorted(np.sort(theirs), mine) / len(theirs)),
            details={
                "advantage": float(max(gaps, default=0.0)),
                **at_few_alarms(mine, theirs),
            },
            ceiling=raw_ceiling(scene, people, others),
        )


def at_few_alarms(mine: Floats, theirs: Floats) -> dict[str, float]:
    """Return the share of individuals in the data who score higher than all but few outside, for each rate.

    Rates that are below one of the individuals outside are omitted.

    >>> at_few_alarms(np.array([1.0, 300.0]), np.arange(200.0))
    {'hits_at_0.01_false_alarms': 0.5}
    """
    known = [rate for rate in _RATES if rate * len(theirs) >= 1]
    limits = {rate: np.quantile(theirs, 1 - rate, method="higher") for rate in known}
    return {f"hits_at_{rate:g}_false_alarms": float((mine > limit).mean()) for rate, limit in limits.items()}


def raw_ceiling(scene: Scene, people: KnownPeople, others: KnownPeople) -> Estimate:
    """Return the success of counting the individuals of the original with equal known quasi-identifiers.

    Membership can disclose no more: where quasi-identifiers are coarse, many outside are equal to one inside.
    """
    known = [*scene.known]
    sizes = [scene.columns[name].size for name in known]
    numbers = [len(scene.insiders), len(people), len(others)]
    groups = [scene.insiders, people, others]
    codes = [np.concatenate([group.codes[name] for group in groups]) for name in known]
    ids = group_rows(codes, sizes, sum(numbers)).ids
    times = np.bincount(ids[: numbers[0]], minlength=int(ids.max()) + 1)[ids[numbers[0] :]]
    return area_under_curve(times.astype(np.float64), np.arange(len(times)) < len(people))


def _scores(scene: Scene, people: KnownPeople) -> Floats:
    """Return the membership score of each individual: candidate record, proximity, and number of nearest records."""
    distances = Distances.of(scene, scene.known)
    scores = (scene.candidates(people) > 0).astype(np.float64)
    for near in distances.nearest(people):
        number = np.bincount(near.who, distances.rows.counts[near.row], len(near.least))
        scores[near.part] += 0.5 * (1 - near.least.astype(np.float64).round(6))
        scores[near.part] += 1e-7 * number / max(scene.release.records, 1)
    return scores


def _ranks(scores: Floats) -> Floats:
    return np.unique(scores, return_inverse=True)[1].astype(np.float64)
