"""Learning: whether a model that is trained on the release is as good as one that is trained on the original.

Both are tested on the same records of the original, of persons that neither has seen: folds take whole persons apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.estimate import Estimate, over_persons
from shoal.analyses.learner import Fitted, Learner, fitted_to, one_thread
from shoal.analyses.study import Study
from shoal.errors import RecodingError
from shoal.progress import Hook, Progress, silent
from shoal.recoding.nodes import Floats, Ints

CLASSES = 50  # categories of a target, at most
MOST = 50_000  # records that are learned from; a sample of persons, if there are more


@dataclass(frozen=True, slots=True)
class Learned:
    """How well a target can be predicted for persons that the model has not seen.

    ``before``, ``after``: trained on the original and on the release; ``baseline``: always the most frequent value, or
    the mean. ``measure``: "accuracy" (share of right predictions) or "error" (mean absolute error, as a share of the
    baseline's). ``difference``: after − before, in pairs. ``skill``: the share of what can be gained over the baseline
    that is left. ``auc``: area under the curve, before and after, where there are two values.
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
    auc: tuple[float, float] | None
    seed: int

    @property
    def skill(self) -> float | None:
        """What is left of the gain over the baseline: 1 all of it, 0 nothing, None if there was none."""
        gain = self.before.value - self.baseline
        better = gain > 0 if self.measure == "accuracy" else gain < 0
        return (self.after.value - self.baseline) / gain if better else None


def learn(  # noqa: PLR0913 - keyword-only options
    study: Study,
    target: str,
    columns: Sequence[str],
    *,
    model: Learner = "boosting",
    folds: int = 5,
    seed: int = 0,
    progress: Hook | None = None,
) -> Learned:
    """Train on the original and on the release, and test both on the original, fold by fold.

    ``model``: "boosting" (histogram gradient boosting, which takes missing cells as they are) or "linear" (logistic or
    ridge regression; missing cells become the mean of the training records). Records that the release does not show,
    and those whose target it does not show as a single value, cannot be learned from.
    """
    task = _Task.of(study, target, columns, seed)
    task.check(folds)
    wrong = np.full((3, len(task.truth)), np.nan)  # before, after, guessing
    scores = np.full((2, len(task.truth)), np.nan)
    hook = progress or silent
    for number, (train, test) in enumerate(_folds(task.persons, folds, seed)):
        hook(Progress("learning", number, folds))
        with one_thread():
            fitted = task.trained(train, model, seed)
            wrong[:, test] = [task.errors(one(task.before[test]), test) for one in (*fitted, task.guessing(train))]
            if task.binary:
                scores[:, test] = [one.score(task.before[test]) for one in fitted]
    return task.result(wrong, scores, model, seed)


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What is to be learned: features before and after, the target as it was and as it is shown, and whose it is."""

    target: str
    numeric: bool
    before: Floats
    after: Floats
    truth: Floats
    shown: Floats
    trainable: NDArray[np.bool_]
    persons: Ints

    @classmethod
    def of(cls, study: Study, target: str, columns: Sequence[str], seed: int) -> "_Task":
        truth, shown, numeric = _target(study, target)
        features = study.features([name for name in columns if name != target])
        rows = _sampled(study.persons, ~np.isnan(truth), seed)
        return cls(
            target,
            numeric,
            features.before[rows],
            features.after[rows],
            truth[rows],
            shown[rows],
            study.released[rows] & ~np.isnan(shown[rows]),
            study.persons[rows],
        )

    @property
    def binary(self) -> bool:
        """Whether the target has two values."""
        return not self.numeric and len(np.unique(self.truth)) == 2

    def check(self, folds: int) -> None:
        """Refuse what cannot be learned."""
        known = self.persons[self.trainable]
        if len(np.unique(self.persons)) < 2 * folds or len(np.unique(known)) < 2 * folds:
            raise RecodingError(
                f"There are too few persons to learn '{self.target}' in {folds} folds.",
                hint="Take fewer folds, or a release that shows the target of more records.",
            )
        values = len(np.unique(self.truth))
        if values < 2:
            raise RecodingError(f"Column '{self.target}' has one value only: there is nothing to predict.")
        if not self.numeric and values > CLASSES:
            raise RecodingError(
                f"Column '{self.target}' has {values:,} categories: too many to predict.",
                hint="Choose a target with fewer categories, or a column of numbers.",
            )

    def trained(self, train: Ints, model: Learner, seed: int) -> tuple["Fitted", "Fitted"]:
        """Train on the original, and on what the release shows of the same records."""
        known = train[self.trainable[train]]
        return (
            fitted_to(model, self.numeric, self.before[train], self.truth[train], seed),
            fitted_to(model, self.numeric, self.after[known], self.shown[known], seed),
        )

    def guessing(self, train: Ints) -> "Fitted":
        """Return what always says the mean, or the most frequent value."""
        held, counts = np.unique(self.truth[train], return_counts=True)
        return Fitted(None, float(self.truth[train].mean() if self.numeric else held[counts.argmax()]))

    def errors(self, predicted: Floats, test: Ints) -> Floats:
        """Return how far predictions are off; of categories, whether they are wrong."""
        off: Floats = np.abs(predicted - self.truth[test])
        return off if self.numeric else np.where(off > 0, 1.0, 0.0)

    def result(self, wrong: Floats, scores: Floats, model: Learner, seed: int) -> Learned:
        """Put the result together: accuracy of categories, error of numbers as a share of that of guessing."""
        shown = wrong / (wrong[2].mean() or 1.0) if self.numeric else 1 - wrong
        before, after, guess = (over_persons(part, self.persons) for part in shown)
        return Learned(
            self.target,
            model,
            "error" if self.numeric else "accuracy",
            len(self.truth),
            int(self.trainable.sum()),
            before,
            after,
            guess.value,
            over_persons(shown[1] - shown[0], self.persons),
            (_auc(scores[0], self.truth), _auc(scores[1], self.truth)) if self.binary else None,
            seed,
        )


def _target(study: Study, name: str) -> tuple[Floats, Floats, bool]:
    """Return what is to be predicted, before and after: numbers, or codes of categories; NaN where there is none."""
    column = study.recoding[name].domain
    if column.positions is not None and len(column.column.values) > 10:
        return (*study.numbers(name), True)
    before, after = study.categories(name)
    missing = len(column.column.values)
    return (*(np.where((codes < 0) | (codes >= missing), np.nan, codes) for codes in (before, after)), False)  # type: ignore[return-value]


def _sampled(persons: Ints, usable: NDArray[np.bool_], seed: int) -> NDArray[np.intp]:
    """Return the records to learn from: all, or those of some persons drawn by chance."""
    records = np.flatnonzero(usable)
    if len(records) <= MOST:
        return records
    who = np.unique(persons[records])
    drawn = np.random.default_rng(seed).permutation(who)[: max(int(len(who) * MOST / len(records)), 2)]
    return records[np.isin(persons[records], drawn)]


def _folds(persons: Ints, folds: int, seed: int) -> list[tuple[Ints, Ints]]:
    """Deal whole persons out to the folds, by chance."""
    who, person = np.unique(persons, return_inverse=True)
    fold = np.random.default_rng(seed).permutation(len(who)) % folds
    of_record = fold[person]
    return [(np.flatnonzero(of_record != one), np.flatnonzero(of_record == one)) for one in range(folds)]


def _auc(scores: Floats, truth: Floats) -> float:
    """Return how probable it is that one with the second value scores above one with the first; ties count half."""
    second = truth == truth.max()
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    positive, negative = int(second.sum()), int((~second).sum())
    return float((ranks[second].sum() - positive * (positive + 1) / 2) / (positive * negative))
