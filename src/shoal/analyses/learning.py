"""Learning: predictive performance of models trained on the release, compared with the original.

Both models are tested on the same records, of persons that neither has seen: folds consist of whole persons.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from shoal.analyses.area import area_under_curve
from shoal.analyses.estimate import Estimate, over_persons
from shoal.analyses.learner import Learner, one_thread
from shoal.analyses.study import Study
from shoal.analyses.task import Task, folds_of
from shoal.progress import Hook, Progress, silent
from shoal.recoding.nodes import Floats, Ints
from shoal.sheet import Presentable, Sheet
from shoal.words import short

TestedOn: TypeAlias = Literal["original", "release"]


@dataclass(frozen=True, slots=True, repr=False)
class Learned(Presentable):
    """Predictive performance for persons that the model has not seen.

    ``before``, ``after``: trained on the original and on the release. ``baseline``: always the most frequent value, or
    the mean. ``measure``: "accuracy" (share of right predictions) or "error" (mean absolute error, as a share of the
    baseline's). ``difference``: after − before, paired by record. ``skill``: the share of the gain over the baseline
    that is retained. ``auc``: area under the curve before and after, for targets with two values; 0.5 is guessing.
    """

    target: str
    model: str
    measure: str
    records: int
    trained_on: int
    before: Estimate
    after: Estimate
    baseline: float
    difference: Estimate
    auc: tuple[Estimate, Estimate] | None
    seed: int

    @property
    def skill(self) -> float | None:
        """The retained share of the gain over the baseline: 1 = all of it, 0 = nothing, None = there was no gain."""
        gain = self.before.value - self.baseline
        better = gain > 0 if self.measure == "accuracy" else gain < 0
        return (self.after.value - self.baseline) / gain if better else None

    @property
    def measure_title(self) -> str:
        """The measure with its scale."""
        return "accuracy" if self.measure == "accuracy" else "mean absolute error (baseline = 1)"

    @property
    def achieved(self) -> tuple[Estimate, Estimate, float]:
        """The performance before and after, and that of guessing; the area under the curve if there is one."""
        return (self.before, self.after, self.baseline) if self.auc is None else (*self.auc, 0.5)

    def sheet(self) -> Sheet:
        """Return the performance before and after, and that of the baseline."""
        pairs = [(self.measure_title, self.before, self.after, self.baseline)]
        pairs += [] if self.auc is None else [("area under the ROC curve", *self.auc, 0.5)]
        rows = [
            (
                name,
                *(
                    f"{short(estimate.value)} ({short(estimate.low)}–{short(estimate.high)})"
                    for estimate in (before, after)
                ),
                short(guess),
            )
            for name, before, after, guess in pairs
        ]
        title = f"{self.target} predicted by {self.model}, cross-validated on {self.records:,} records"
        return Sheet(title, ("", "trained on the original", "trained on the release", "baseline"), tuple(rows))


def learn(  # noqa: PLR0913 - keyword-only options
    study: Study,
    target: str,
    columns: Sequence[str],
    *,
    model: Learner = "boosting",
    tested: TestedOn = "original",
    folds: int = 5,
    seed: int = 0,
    progress: Hook | None = None,
) -> Learned:
    """Train on the original and on the release, and test both fold by fold on records of unseen persons.

    ``tested``: the records on which the model of the release is tested: "original", as for a new patient, or "release",
    as for analysts who have nothing else. The model of the original is always tested on the original. ``model``: see
    :mod:`shoal.analyses.learner`. Records that are not released, and records whose target is not released as a single
    value, are not used for training on the release.
    """
    task = Task.of(study, target, columns, seed)
    task.check(folds)
    wrong = np.full((3, len(task.truth)), np.nan)  # before, after, baseline
    scores, fold = np.full((2, len(task.truth)), np.nan), np.zeros(len(task.truth), np.int64)
    hook = progress or silent
    for number, (train, test) in enumerate(folds_of(task.persons, folds, seed)):
        hook(Progress("learning", number, folds))
        with one_thread():
            fitted = task.trained(train, model, seed)
            shown = task.before[test], task.before[test] if tested == "original" else task.after[test]
            models = zip((*fitted, task.guessing(train)), (*shown, task.before[test]), strict=True)
            wrong[:, test] = [task.errors(model(rows), test) for model, rows in models]
            if task.binary:
                scores[:, test] = [model.score(rows) for model, rows in zip(fitted, shown, strict=True)]
                fold[test] = number
    areas = _areas(task, scores, fold) if task.binary else None
    return _result(task, wrong, areas, model, seed)


def _areas(task: Task, scores: Floats, fold: Ints) -> tuple[Estimate, Estimate]:
    """Return the areas under the curve before and after."""
    second = task.truth == task.truth.max()
    before, after = (area_under_curve(part, second, task.persons, fold) for part in scores)
    return before, after


def _result(task: Task, wrong: Floats, areas: tuple[Estimate, Estimate] | None, model: Learner, seed: int) -> Learned:
    """Return the result: accuracy for categories, error for numbers as a share of that of the baseline."""
    shown = wrong / (wrong[2].mean() or 1.0) if task.numeric else 1 - wrong
    before, after, guess = (over_persons(part, task.persons) for part in shown)
    return Learned(
        task.target,
        model,
        "error" if task.numeric else "accuracy",
        len(task.truth),
        int(task.trainable.sum()),
        before,
        after,
        guess.value,
        over_persons(shown[1] - shown[0], task.persons),
        areas,
        seed,
    )
