"""Background knowledge: the adversary can rule out values, or holds some for likelier than others."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from shoal.analyses.estimate import Estimate
from shoal.attacks.attack import ATTACKS, Attack, Need
from shoal.attacks.beliefs import counted, prior
from shoal.attacks.people import People
from shoal.attacks.result import Adversary, Criterion, Point, Result
from shoal.attacks.scene import Scene
from shoal.errors import AttackError
from shoal.recoding.nodes import Floats
from shoal.validation import Share

_MOST = 5  # values that are ruled out on the curve


@ATTACKS.register("background-knowledge")
class BackgroundKnowledge(Attack):
    """The share of people whose sensitive value becomes nearly certain to somebody who knows more.

    The records that may be a person's make a value as likely as it is frequent among them. Background knowledge weighs
    these counts: ``rule_out`` names values that the person cannot have, ``prior`` gives values a weight (1 if nothing
    is said), and ``excluded`` lets the adversary rule out so many more, the most frequent ones that are wrong. Success:
    the true value is then as likely as ``threshold`` at least. Machanavajjhala et al. 2007; Martin et al. 2007; Peng
    2021. Baseline: the same knowledge without the release's classes. The curve goes over the number of values that are
    ruled out.

    >>> import shoal
    >>> data = {"zip": ["4760*"] * 3, "dx": ["Heart", "Cancer", "Cancer"]}
    >>> before = shoal.read({**data, "zip": ["47605", "47607", "47602"]}).assign(quasi="zip", sensitive="dx")
    >>> scene = Scene.of(before, shoal.read(data))
    >>> result = next(BackgroundKnowledge(rule_out=["Heart"], excluded=0).run(scene))
    >>> result.persons.tolist()  # whoever has Heart is not the one who is known not to have it
    [0.0, 1.0, 1.0]
    """

    name: ClassVar[str] = "background-knowledge"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    needs: ClassVar[frozenset[Need]] = frozenset({Need.KNOWN, Need.SENSITIVE})
    on_card: ClassVar[bool] = False

    excluded: int = Field(default=1, ge=0, description="how many wrong values the adversary can rule out")
    rule_out: list[str] = Field(default=[], description="values that the adversary can rule out")
    prior: Mapping[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default={}, description="how likely values are beforehand, relative to others"
    )
    threshold: Share = Field(default=0.9, description="how likely the true value must have become")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Look at each sensitive column."""
        steps = range(max(_MOST, self.excluded) + 1)
        for column in scene.secret:
            weights, people, strangers = self._weights(scene, column), scene.having(column), scene.strangers(column)
            if not len(people):
                continue
            found = _likely(scene, people, column, weights, steps)
            others = None if strangers is None else _likely(scene, strangers, column, weights, [self.excluded])[0]
            blind = _without(scene, people, column, weights, steps)
            baselines = [float(self._reached(likely).mean()) for likely in blind]
            yield self.result(
                scene,
                f"the value is as likely as {self.threshold:g} at least",
                self._reached(found[self.excluded]),
                baselines[self.excluded],
                None if others is None else self._reached(others),
                column=column,
                persons=scene.over_original(people, found[self.excluded]),
                axis="values ruled out",
                curve=tuple(Point(step, self._share(found[step]), baselines[step]) for step in steps),
                details={"mean_likelihood": float(found[self.excluded].mean())},
            )

    def _reached(self, likely: Floats) -> Floats:
        return (likely >= self.threshold - 1e-12).astype(np.float64)

    def _share(self, likely: Floats) -> Estimate:
        return Estimate.share(float(self._reached(likely).mean()), max(len(likely), 1))

    def _weights(self, scene: Scene, column: str) -> Floats:
        """Return the weight of each value."""
        labels = scene.cells[column].column.labels().to_pylist()
        strange = [text for text in (*self.rule_out, *self.prior) if text not in labels]
        if strange and len(scene.secret) == 1:
            raise AttackError(
                f"Column '{column}' has none of {len(strange)} of the values that are ruled out or weighed.",
                hint="Write values as they are written in the data.",
            )
        weights = np.array([float(self.prior.get(label, 1.0)) for label in labels])
        weights[[label in self.rule_out for label in labels]] = 0
        return weights


def _likely(scene: Scene, people: People, column: str, weights: Floats, steps: Sequence[int]) -> Floats:
    """Return how likely the true value of each person is, if so many wrong values are ruled out."""
    found = np.zeros((len(steps), len(people)))
    for held in counted(scene, people, column):
        own = held.own(people.codes[column][held.part].astype(np.intp)) * weights[people.codes[column][held.part]]
        found[:, held.part] = _of_truth(held.weights * weights[held.values], own, steps)
    return found


def _without(scene: Scene, people: People, column: str, weights: Floats, steps: Sequence[int]) -> Floats:
    """Return the same for somebody who knows how frequent values are in the release, and nothing else."""
    shares = prior(scene, column) * weights
    values, place = np.unique(people.codes[column].astype(np.intp), return_inverse=True)
    often = np.sort(np.partition(shares, -min(max(steps) + 1, len(shares)))[-min(max(steps) + 1, len(shares)) :])[::-1]
    own, total = shares[values], shares.sum()
    found = np.zeros((len(steps), len(values)))
    for step, excluded in enumerate(steps):
        most = often[:excluded].sum()
        among = own >= (often[excluded - 1] if 0 < excluded <= len(often) else np.inf)  # one of those itself
        more = often[excluded] if excluded < len(often) else 0.0
        left = np.where(among, total - (most + more), total - most - own)
        found[step] = _share(own, np.maximum(left, 0))
    return np.asarray(found[:, place])


def _of_truth(weighed: Floats, own: Floats, steps: Sequence[int]) -> Floats:
    """Return the share of the true value, if so many of the most frequent wrong ones are left out.

    ``own``: the weight of the true value, which is one of those that are weighed, or 0.
    """
    most = min(max(steps) + 1, weighed.shape[1])
    largest = np.zeros((len(own), max(steps) + 2))
    if most:
        top = np.partition(weighed, weighed.shape[1] - most, axis=1)[:, weighed.shape[1] - most :]
        largest[:, :most] = -np.sort(-top, axis=1)
    sums, total = np.cumsum(largest, axis=1), weighed.sum(axis=1)
    found = np.zeros((len(steps), len(own)))
    for step, excluded in enumerate(steps):
        among = own >= largest[:, excluded - 1] if excluded else np.zeros(len(own), bool)
        most_wrong = sums[:, excluded - 1] if excluded else np.zeros(len(own))
        left = np.where(among & (own > 0), total - sums[:, excluded], total - most_wrong - own)
        found[step] = _share(own, np.maximum(left, 0))
    return found


def _share(own: Floats, others: Floats) -> Floats:
    """Return the share of one weight in all; what is left of sums by rounding is nothing."""
    others = np.where(others < 1e-9 * own, 0, others)
    total = own + others
    return np.where(total > 0, own / np.where(total > 0, total, 1), 0.0)
