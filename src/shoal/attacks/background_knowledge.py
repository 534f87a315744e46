"""Background knowledge: the adversary can rule out values, or considers some more probable than others."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.beliefs import Weighed, judged
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.errors import AttackError
from shoal.recoding.nodes import Floats
from shoal.validation import Share
from shoal.words import counted

_MOST = 5  # the curve covers at least this number of values ruled out


@ATTACKS.register("background-knowledge")
class BackgroundKnowledge(Attack):
    """Share of individuals whose sensitive value becomes nearly certain to an adversary who can rule out values.

    The probability of a value is its frequency among the candidate records of a person, weighted by background
    knowledge: ``rule_out`` names values that the person cannot have, ``prior`` gives values a weight (default 1), and
    ``excluded`` is the number of further wrong values that the adversary can rule out, the most frequent ones first.
    Columns with no other wrong values, such as those with two values, are not attacked. Success: the probability of the
    true value is then at least ``threshold``. Machanavajjhala et al. 2007; Martin et al. 2007; Peng 2021. Baseline: the
    share by chance, if sensitive values were independent of the quasi-identifiers. The curve shows the success by
    number of values ruled out.

    >>> import shoal
    >>> data = {"zip": ["4760*"] * 3, "dx": ["Heart", "Cancer", "Cancer"]}
    >>> before = shoal.read({**data, "zip": ["47605", "47607", "47602"]}).assign(quasi="zip", sensitive="dx")
    >>> scene = Scene.of(before, shoal.read(data))
    >>> result = next(BackgroundKnowledge(rule_out=["Heart"], excluded=0).run(scene))
    >>> result.persons.tolist()  # knowledge that is wrong for the person with Heart
    [0.0, 1.0, 1.0]
    """

    name: ClassVar[str] = "background-knowledge"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "expected if sensitive values were independent of the quasi-identifiers"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.SENSITIVE})
    reads_sets: ClassVar[bool] = True
    off_card: ClassVar[str] = "assumes knowledge of sensitive values"

    excluded: int = Field(default=1, ge=0, description="number of wrong values that the adversary can rule out")
    rule_out: list[str] = Field(default=[], description="values that the adversary can rule out")
    prior: Mapping[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default={}, description="prior weights of the values"
    )
    threshold: Share = Field(default=0.9, description="minimum probability of the true value")

    @property
    def _ruled_out(self) -> str:
        """The values that the adversary rules out, in words."""
        frequent = f"the {self.excluded:,} most frequent wrong values" if self.excluded else ""
        frequent = "the most frequent wrong value" if self.excluded == 1 else frequent
        named = counted(len(self.rule_out), "given value") if self.rule_out else ""
        return " and ".join(filter(None, (frequent, named))) or "no value"

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack each sensitive column."""
        steps = range(max(_MOST, self.excluded) + 1)
        for column in scene.secret:
            weights, people, strangers = self._weights(scene, column), scene.having(column), scene.strangers(column)
            if not len(people) or len(scene.original[column].values) <= self.excluded + 1:
                continue  # with all wrong values ruled out, the true value is known without the release
            likelihood = [partial(_likelihood, weights, excluded) for excluded in steps]
            claims = [partial(self._reached, share) for share in likelihood]
            right, chance = judged(scene, people, column, [*claims, likelihood[self.excluded]])
            others = None if strangers is None else judged(scene, strangers, column, [claims[self.excluded]])[0][0]
            likely = right[-1]
            baselines = chance.mean(axis=1)
            yield self.result(
                scene,
                f"the true value has a probability of at least {self.threshold:g} after the adversary rules out "
                f"{self._ruled_out}",
                right[self.excluded],
                float(baselines[self.excluded]),
                others,
                column=column,
                people=people,
                persons=scene.over_original(people, likely),
                axis="values ruled out",
                curve=tuple(self.point(step, right[step], baselines[step]) for step in steps),
                details={"mean_likelihood": float(likely.mean())},
            )

    def _reached(self, likelihood: Callable[[Weighed], Floats], weighed: Weighed) -> NDArray[np.bool_]:
        """Return the mask of values whose probability reaches the threshold."""
        return np.asarray(likelihood(weighed) >= self.threshold - 1e-12)

    def _weights(self, scene: Scene, column: str) -> Floats:
        """Return the weight of each value."""
        labels = scene.columns[column].labels().to_pylist()
        for code, text in zip(scene.places[column].tolist(), scene.original[column].labels().to_pylist(), strict=True):
            labels[code] = text  # as written in the data
        strange = [text for text in (*self.rule_out, *self.prior) if text not in labels]
        if strange and len(scene.secret) == 1:
            raise AttackError(
                "unknown-values",
                "Column '{column}' does not contain {values:value} of the background knowledge.",
                remedy="Write values exactly as they appear in the data.",
                column=column,
                values=len(strange),
            )
        weights = np.array([float(self.prior.get(label, 1.0)) for label in labels])
        weights[[label in self.rule_out for label in labels]] = 0
        return weights


def _likelihood(weights: Floats, excluded: int, weighed: Weighed) -> Floats:
    """Return the probability of each value, if it is the true one and the most frequent others are ruled out."""
    own = weighed.weights * weights[weighed.values]
    most = min(excluded + 1, own.shape[1])
    largest = np.zeros((len(own), excluded + 2))
    if most:
        largest[:, :most] = -np.sort(-np.partition(own, own.shape[1] - most, axis=1)[:, own.shape[1] - most :], axis=1)
    sums, total = np.cumsum(largest, axis=1), own.sum(axis=1, keepdims=True)
    left = total - own
    if excluded:
        among = (own >= largest[:, [excluded - 1]]) & (own > 0)  # the value itself is one of the most frequent
        left = np.where(among, total - sums[:, [excluded]], left - sums[:, [excluded - 1]])
    left = np.where(left < 1e-9 * own, 0, left)  # remainders of rounding errors are 0
    return np.where(own > 0, own / np.where(own > 0, own + left, 1), 0.0)
