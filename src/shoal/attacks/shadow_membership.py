"""Membership by shadow releases: inference from what a release would look like with and without a person."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.membership import at_few_alarms, raw_ceiling
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.progress import Progress
from shoal.recoding.nodes import Floats

_LEAST = 0.05  # density where no record fits
_TRUST = 8.0  # number of releases by which the common variance outweighs that of a single person


@ATTACKS.register("shadow-membership")
class ShadowMembership(Attack):
    """Area under the ROC curve for distinguishing individuals in the data from others, by a likelihood ratio.

    The adversary knows the policy, and individuals from the same population, some of whom are in the data. From random
    halves of them, shadow releases are made in the same way. For each individual, the density of the release at its
    quasi-identifiers (the records that fit, each divided by the number of individuals whom it is expected to fit) is
    compared with the densities in the shadows that were made with and without it, as normal distributions of the
    logarithm. Success: the probability that an individual in the data has a higher ratio than one outside, with the
    interval of DeLong et al. 1988; 0.5 is guessing. Among the details is the rate of hits at 1% false alarms, which
    shows a risk for few individuals. Carlini et al. 2022.

    The individuals outside are those of ``outsiders``, with all columns of the original.
    """

    name: ClassVar[str] = "shadow-membership"
    adversary: ClassVar[Adversary] = Adversary.ADAPTIVE
    criterion: ClassVar[Criterion] = Criterion.SINGLING_OUT
    baseline_is: ClassVar[str] = "a random guess"
    default: ClassVar[bool] = False
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.OUTSIDERS, AttackNeed.SHADOWS})

    shadows: int = Field(default=32, ge=4, description="number of releases that are made")
    targets: int = Field(default=1000, ge=2, description="maximum number of targets, and of controls")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Compare the release with shadows."""
        people, others = scene.targets.drawn(self.targets, scene.rng(self.name)), scene.strangers(most=self.targets)
        if others is None:
            return
        at = np.concatenate([people.records, others.records + scene.original.records])
        made = list(self._made(scene, at))
        if len(made) < 4:
            return
        inside, densities = (np.stack(parts) for parts in zip(*made, strict=True))
        real = np.concatenate([_density(scene, people), _density(scene, others)])
        ratios = _ratios(densities, inside, real)
        mine, theirs = ratios[: len(people)], ratios[len(people) :]
        yield self.told_apart(
            scene,
            "an individual in the data is distinguished from one outside by a likelihood ratio",
            ratios,
            np.arange(len(ratios)) < len(mine),
            ceiling=raw_ceiling(scene, people, others),
            persons=scene.over_original(people, np.searchsorted(np.sort(theirs), mine) / len(theirs)),
            details={"shadows": len(made), **at_few_alarms(mine, theirs)},
        )

    def _made(self, scene: Scene, at: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.bool_], Floats]]:
        """Yield, for each shadow that can be made, which individuals are in it, and its density at each of them."""
        outside = 0 if scene.outsiders is None else int(scene.outsiders.records.max()) + 1
        total, rng = scene.original.records + outside, scene.rng(f"{self.name} shadows")
        for number in range(self.shadows):
            scene.progress(Progress("making shadow releases", number, self.shadows))
            chosen = np.zeros(total, bool)
            chosen[rng.choice(total, scene.original.records, replace=False)] = True
            shadow = None if scene.shadows is None else scene.shadows(chosen)
            if shadow is not None and shadow.outsiders is not None:
                yield chosen[at], _density(shadow, shadow.outsiders.some(at))


def _density(scene: Scene, people: KnownPeople) -> Floats:
    """Return the logarithm of the density of the release at the quasi-identifiers of each individual."""
    rows = scene.rows(scene.known)
    weights = rows.counts / np.maximum(scene.reach(rows, scene.known), 1e-9)
    ends, fitting = scene.covering(scene.known, rows).rows(people.known(scene.known))
    whose = np.repeat(np.arange(len(people)), np.diff(ends, prepend=0))
    return np.asarray(np.log(np.bincount(whose, weights[fitting], len(people)) + _LEAST))


def _ratios(densities: Floats, inside: NDArray[np.bool_], real: Floats) -> Floats:
    """Return the logarithm of the likelihood ratio of each individual.

    ``densities[s, i]``: in shadow s, at individual i. The mean of an individual is estimated from few shadows, so the
    difference that its presence makes is drawn towards the common one, and so is its variance.
    """
    counts = inside.sum(axis=0), (~inside).sum(axis=0)
    means = [np.where(mask, densities, 0.0).sum(axis=0) / np.maximum(mask.sum(axis=0), 1) for mask in (inside, ~inside)]
    both = np.minimum(*counts) > 0
    gaps = np.where(both, means[0] - means[1], 0.0)
    centre = np.where(inside, means[0], means[1])
    squares = np.square(densities - centre).sum(axis=0)
    free = np.maximum(len(densities) - 2, 1)
    variance = (squares + _TRUST * squares.sum() / (free * len(real))) / (free + _TRUST)
    variance = np.maximum(variance, 1e-9)
    errors = variance * (1 / np.maximum(counts[0], 1) + 1 / np.maximum(counts[1], 1))
    common = float(gaps[both].mean()) if both.any() else 0.0
    spread = max(float(np.square(gaps[both] - common).mean() - errors[both].mean()), 0.0) if both.any() else 0.0
    gap = common + (gaps - common) * spread / np.maximum(spread + errors, 1e-12) * both
    middle = densities.mean(axis=0)
    share = counts[0] / len(densities)
    without, with_ = middle - share * gap, middle + (1 - share) * gap
    return np.asarray((np.square(real - without) - np.square(real - with_)) / (2 * variance))
