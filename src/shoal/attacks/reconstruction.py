"""Reconstruction: prediction of quasi-identifiers from the other columns of a release."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.analyses.estimate import Estimate
from shoal.analyses.importance import giving_away
from shoal.analyses.learner import LEARNERS, Fitted, Learner, fitted_to, one_thread
from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.features import MISSING, AttackFeatures, classes, learner_for
from shoal.attacks.learned import FEWEST, TrainedModel
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, CurvePoint, Result
from shoal.attacks.scene import Scene
from shoal.progress import Progress
from shoal.recoding.nodes import Floats, Ints
from shoal.validation import Share
from shoal.words import share

FRACTIONS = (0.01, 0.05, 0.2, 0.5, 0.8)
_JUDGED = 2000  # maximum number of known individuals for the choice of a model
_MAJORITY = "majority"  # the most frequent class, for models that learn nothing
_TOLD = 5  # number of most important columns reported


@ATTACKS.register("reconstruction")
class Reconstruction(Attack):
    """Share of individuals whose quasi-identifier is predicted correctly from the rest of their released record.

    The adversary knows the released records of a fraction of the individuals, and their demographics. A model trained
    on them predicts the demographics of all others from their released features (Olatunji 2021, section 5). Each
    quasi-identifier is attacked in turn; for a number, its quintile is predicted. Of several models, each is trained on
    two thirds of the known part, and the one with the best accuracy in the last third is used; or none, if the most
    frequent value does better. Baseline: always the most frequent value. Control: individuals outside the data. The
    curve shows the success by fraction.

    >>> import shoal
    >>> data = {"sex": ["f", "m"] * 100, "height": [160, 180] * 100}
    >>> before = shoal.read(data).assign(quasi="sex")
    >>> scene = Scene.of(before, shoal.read({**data, "sex": ["*"] * 200}), truth=np.arange(200))
    >>> result = next(Reconstruction(fractions=[0.2]).run(scene))
    >>> result.success.value, result.baseline < 0.6
    (1.0, True)
    """

    name: ClassVar[str] = "reconstruction"
    adversary: ClassVar[Adversary] = Adversary.STATISTICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "the most frequent value"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.TRUTH, AttackNeed.LEARNING})

    fraction: Share = Field(default=0.2, description="share of individuals that the adversary knows")
    fractions: list[Share] = Field(default=list(FRACTIONS), description="shares for the curve")
    models: list[Learner] = Field(
        default=[],
        description=f"learning models: {', '.join(LEARNERS)} (default: boosting and linear, or a forest)",
    )
    targets: int = Field(default=5000, ge=1, description="maximum number of targets")
    rows: int = Field(default=10_000, ge=10, description="maximum number of records for training")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack each quasi-identifier, released or not; yield nothing if the release has no other columns."""
        others = [name for name in scene.cells if name not in scene.known]
        if scene.truth is None or not others:
            return
        features = AttackFeatures.of(scene, others)
        there = scene.insiders.some(np.flatnonzero(scene.truth[scene.insiders.records] >= 0))
        after = (*scene.known, *scene.hidden)
        for place, column in enumerate(after):
            scene.progress(Progress(f"reconstructing {column}", place, len(after)))
            case = _Case.of(scene, column, features, there, self)
            if len(case.people) >= FEWEST:
                yield self._result(scene, column, case)

    def _result(self, scene: Scene, column: str, case: "_Case") -> Result:
        models = self.models or _models(len(np.unique(case.truth[case.truth >= 0])))
        main, strangers = (
            case.attacked(self.fraction, models, judged=True),
            scene.strangers(column, *case.features.names),
        )
        by_number = {main.learned_from: main}  # several fractions may give the same number
        for fraction in self.fractions:
            if case.number(fraction) not in by_number:
                by_number[case.number(fraction)] = case.attacked(fraction, [main.chosen])
        tried = {fraction: by_number[case.number(fraction)] for fraction in sorted({*self.fractions, self.fraction})}
        others = None
        if strangers is not None:
            learned = TrainedModel(main.model, case.features, case.of_value)
            others = learned.right(learned.known(strangers, column), column)
        return self.result(
            scene,
            f"a model trained on {share(self.fraction)} of the individuals predicts it for the others from the rest "
            f"of their record "
            f"(numbers: the correct quintile)",
            main.right,
            main.baseline,
            others,
            column=column,
            people=main.people,
            axis="share of individuals that the adversary knows",
            curve=tuple(
                CurvePoint(fraction, Estimate.share(float(outcome.right.mean()), len(outcome.right)), outcome.baseline)
                for fraction, outcome in tried.items()
            ),
            details={
                "model": main.chosen,
                "models": main.scores,
                "learned_from": main.learned_from,
                "balanced": main.balanced,
                "sure_and_right": main.sure,
                "by": main.by,
            },
        )


def _models(number: int) -> list[Learner]:
    """Return the learners to choose from for a number of classes: boosting and linear, or a forest for many classes."""
    first = learner_for(None, number)
    return [first, "linear"] if first == "boosting" else [first]


@dataclass(frozen=True, slots=True, eq=False)
class _Tried:
    """The outcome for one fraction. ``balanced``: the mean over the classes of the accuracy in each.

    ``by``: the most important columns, each with the decrease in accuracy without it.
    """

    model: Fitted
    people: KnownPeople
    right: Floats
    baseline: float
    chosen: str
    scores: Mapping[str, float]
    learned_from: int
    balanced: float
    sure: float
    by: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """One attacked column: individuals in random order, the features of their records, and their classes.

    ``everybody``: the number of individuals from which these are sampled.
    """

    features: AttackFeatures
    people: KnownPeople
    rows: Floats
    truth: Ints
    of_value: Ints
    everybody: int
    attack: Reconstruction
    seed: int

    @classmethod
    def of(
        cls, scene: Scene, column: str, features: AttackFeatures, people: KnownPeople, attack: Reconstruction
    ) -> "_Case":
        of_value = classes(scene.columns[column], people.codes[column])
        known = people.some(np.flatnonzero(of_value[people.codes[column]] != MISSING))
        rng, everybody = scene.rng(f"reconstruction {column}"), len(known)
        known = known.some(rng.permutation(len(known))[: attack.rows + attack.targets])
        released = np.zeros(0, np.intp) if scene.truth is None else scene.truth[known.records]
        rows = features.records(scene, released)
        return cls(features, known, rows, of_value[known.codes[column]], of_value, everybody, attack, scene.seed)

    def _most_frequent(self) -> float:
        """Return the share of the most frequent class among all individuals."""
        named = self.truth[self.truth >= 0]
        return float(np.bincount(named).max() / len(self.truth)) if len(named) else 0.0

    def number(self, fraction: float) -> int:
        """Return the number of individuals for training if a fraction of all is known."""
        return min(max(round(fraction * self.everybody), 2), len(self.people) - 1, self.attack.rows)

    def attacked(self, fraction: float, models: Sequence[str], *, judged: bool = False) -> _Tried:
        """Train on a fraction of the individuals and predict the others.

        ``judged``: whether to compare the models within the known part and to measure the importance of the columns.
        """
        number = self.number(fraction)
        test = np.arange(number, len(self.people))[-self.attack.targets :]
        train = np.flatnonzero(self.truth[:number] >= 0)
        with one_thread():
            scores = {model: self._score(model, train) for model in (_MAJORITY, *models)} if judged else {}
            chosen = max(scores, key=lambda model: scores[model]) if scores else models[0]
            model = self._fitted(chosen, train)
            guesses, sure = model.surest(self.rows[test])
            truth, rng = self.truth[test], np.random.default_rng(self.seed)
            by = giving_away(model, self.rows[test], truth.astype(float), self.features.columns, rng) if judged else {}
        right = (guesses == truth).astype(np.float64)
        return _Tried(
            model,
            self.people.some(test),
            right,
            self._most_frequent(),
            chosen,
            scores,
            number,
            float(np.mean([right[truth == value].mean() for value in np.unique(truth)])),
            float(((sure >= 0.9) & (right == 1)).mean()),
            dict(list(by.items())[:_TOLD]),
        )

    def _fitted(self, model: str, train: NDArray[np.intp]) -> Fitted:
        """Train a model; the majority model always predicts the most frequent class."""
        truth = self.truth[train].astype(float)
        if model != _MAJORITY:
            return fitted_to(cast("Learner", model), False, self.rows[train], truth, self.seed)
        values, counts = np.unique(truth, return_counts=True)
        if not len(values):
            return Fitted(None, np.nan)
        return Fitted(None, float(values[counts.argmax()]), float(counts.max() / counts.sum()))

    def _score(self, model: str, known: NDArray[np.intp]) -> float:
        """Return the accuracy in a third of the known part of a model trained on the rest of it."""
        judged = known[:_JUDGED]
        held_out, rest = judged[::3], np.delete(judged, np.s_[::3])
        if not len(rest):
            return 0.0
        return float((self._fitted(model, rest)(self.rows[held_out]) == self.truth[held_out]).mean())
