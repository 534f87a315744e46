"""Attribute inference: the sensitive value is guessed by the strongest of several adversaries who have the release."""

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.analyses.learner import LEARNERS, Learner, fitted_to, one_thread
from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.beliefs import counted
from shoal.attacks.distances import Distances
from shoal.attacks.features import AttackFeatures, classes, learner_for, shown_classes
from shoal.attacks.learned import FEWEST, TrainedModel
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.progress import Progress
from shoal.recoding.nodes import Floats, Ints

Guess: TypeAlias = Callable[[KnownPeople], Floats]  # the probability that the guess for each individual is right
_TRIED = 3  # one target in so many decides between the adversaries, and does not count towards the success
_TRYING, _NEAREST = 500, 1000  # targets on which an adversary is tried, and targets of the nearest record, at most


@ATTACKS.register("attribute-inference")
class AttributeInference(Attack):
    """Share of individuals whose sensitive value is guessed by the strongest adversary who has the release.

    Three adversaries know the quasi-identifiers: one takes the most probable value among the candidate records, as in a
    class; one trains a model on the release; one takes the value of the nearest record. For a number, the quintile of
    the distribution is guessed. Part of the targets decides which adversary is the strongest, and only the others
    count, so that the choice does not inflate the success. Success on individuals outside the data is general
    knowledge, which every useful release provides; the privacy risk is the difference. Baseline: always the most
    frequent value. Yeom et al. 2018.

    >>> import shoal
    >>> data = {"age": [*range(40)] * 5, "dx": (["flu"] * 20 + ["ms"] * 20) * 5}
    >>> before = shoal.read(data).assign(quasi="age", sensitive="dx")
    >>> next(AttributeInference().run(Scene.of(before, before))).success.value > 0.9
    True
    """

    name: ClassVar[str] = "attribute-inference"
    adversary: ClassVar[Adversary] = Adversary.STATISTICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "the most frequent value"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.SENSITIVE, AttackNeed.LEARNING})

    model: Learner | None = Field(
        default=None, description=f"learning model: {', '.join(LEARNERS)} (default: automatic)"
    )
    rows: int = Field(default=10_000, ge=10, description="maximum number of released records for training")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack each sensitive column."""
        features = AttackFeatures.of(scene, scene.known)
        for place, column in enumerate(scene.secret):
            scene.progress(Progress(f"learning {column}", place, len(scene.secret)))
            of_value = classes(scene.cells[column].column, scene.insiders.codes[column])
            learned = self._learned(scene, column, features, of_value)
            if learned is not None and len(learned.known(scene.targets, column)):
                yield self._result(scene, column, learned)

    def _learned(self, scene: Scene, column: str, features: AttackFeatures, of_value: Ints) -> TrainedModel | None:
        """Train a model on the release; None if it has too few records."""
        cells = scene.cells[column]
        shown = shown_classes(cells, of_value)[cells.codes]
        rows = _some(np.flatnonzero(shown >= 0), self.rows, scene.rng(f"{self.name} {column}"))
        if len(rows) < FEWEST:
            return None
        known = features.records(scene, rows, scene.rng(f"{self.name} {column} intervals"))
        with one_thread():
            chosen = learner_for(self.model, len(np.unique(shown[rows])))
            return TrainedModel(
                fitted_to(chosen, False, known, shown[rows].astype(float), scene.seed), features, of_value
            )

    def _result(self, scene: Scene, column: str, learned: TrainedModel) -> Result:
        adversaries: Mapping[str, Guess] = {
            "most probable value": lambda people: _most_probable(scene, people, column, learned.of_value),
            "trained model": lambda people: learned.right(people, column),
            "nearest record": lambda people: _nearest(scene, people, column, learned.of_value),
        }
        people = learned.known(scene.targets, column)
        order = scene.rng(f"{self.name} {column} targets").permutation(len(people))
        trying, judging = np.sort(order[: len(people) // _TRIED]), np.sort(order[len(people) // _TRIED :])
        tried = {name: _mean(guess(people.some(trying[:_TRYING]))) for name, guess in adversaries.items()}
        best = max(tried, key=lambda name: tried[name])
        judged = people.some(judging[: _NEAREST if best == "nearest record" else None])
        right, strangers = adversaries[best](judged), scene.strangers(column)
        others = None if strangers is None else adversaries[best](learned.known(strangers, column))
        shown = shown_classes(scene.cells[column], learned.of_value)[scene.cells[column].codes]
        values, counts = np.unique(shown[shown >= 0], return_counts=True)
        return self.result(
            scene,
            "the strongest adversary who has the release guesses the true value (numbers: the correct quintile)",
            right,
            float((learned.truth(judged, column) == values[counts.argmax()]).mean()),
            others,
            column=column,
            people=judged,
            details={
                "adversary": best,
                "tried": tried,
                "learned_from": min(len(shown), self.rows),
                "classes": len(values),
            },
        )


def _most_probable(scene: Scene, people: KnownPeople, column: str, of_value: Ints) -> Floats:
    """Return the probability that the class with the largest weight among the candidate records is the true one."""
    right, number = np.zeros(len(people)), int(of_value.max(initial=0)) + 1
    for weighed in counted(scene, people, column):
        of = of_value[weighed.values]
        known = np.flatnonzero(of >= 0)
        weights = np.zeros((len(weighed.weights), number))
        np.add.at(weights.T, of[known], weighed.weights[:, known].T)
        highest = weights.max(axis=1, keepdims=True, initial=0)
        best = (weights >= highest * (1 - 1e-9)) & (weights > 0)
        truth = of_value[people.codes[column][weighed.part]]
        hits = np.where(truth >= 0, best[np.arange(len(truth)), np.maximum(truth, 0)], False)
        right[weighed.part] = hits / np.maximum(best.sum(axis=1), 1)
    return right


def _nearest(scene: Scene, people: KnownPeople, column: str, of_value: Ints) -> Floats:
    """Return the probability that a record nearest to each individual shows the true class."""
    cells, rows = scene.cells[column], scene.rows((*scene.known, column))
    shown = shown_classes(cells, of_value)[rows.codes[-1]]
    rows, shown = rows.only(shown >= 0), shown[shown >= 0]
    right = np.zeros(len(people))
    for near in Distances.of(scene, scene.known, rows).nearest(people) if len(rows) else ():
        truth, size = of_value[people.codes[column][near.part]], len(near.least)
        weights = rows.counts[near.row].astype(np.float64)
        hits = np.bincount(near.who, weights * (shown[near.row] == truth[near.who]), size)
        right[near.part] = hits / np.maximum(np.bincount(near.who, weights, size), 1e-300)
    return right


def _mean(right: Floats) -> float:
    return float(right.mean()) if len(right) else 0.0


def _some(places: NDArray[np.intp], most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a random sample of at most ``most`` places."""
    return places if len(places) <= most else np.sort(rng.choice(places, most, replace=False))
