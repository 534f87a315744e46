"""Learning: whether a model that is trained on the release is as good as one that is trained on the original.

Both are tested on the same records of the original, of persons that neither has seen: folds take whole persons apart.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.estimate import Estimate, over_persons
from shoal.analyses.study import Study
from shoal.errors import RecodingError
from shoal.progress import Hook, Progress, silent
from shoal.recoding.nodes import Floats, Ints

Model = Literal["boosting", "linear"]
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
    model: Model = "boosting",
    folds: int = 5,
    seed: int = 0,
    progress: Hook | None = None,
) -> Learned:
    """Train on the original and on the release, and test both on the original, fold by fold.

    ``model``: "boosting" (histogram gradient boosting, which takes missing cells as they are) or "linear" (logistic or
    ridge regression; missing cells become the mean of the training records). Records that the release does not show,
    and those whose target it does not show as a single value, cannot be learned from.
    """
    truth, shown, numeric = _target(study, target)
    features = study.features([name for name in columns if name != target])
    usable = ~np.isnan(truth)
    chosen = _sampled(study.persons, usable, seed)
    truth, shown, persons = truth[chosen], shown[chosen], study.persons[chosen]
    before, after = features.before[chosen], features.after[chosen]
    trainable = study.released[chosen] & ~np.isnan(shown)
    _check(truth, trainable, persons, folds, target, numeric)
    right = np.full((3, len(truth)), np.nan)
    scores = np.full((2, len(truth)), np.nan)
    hook = progress or silent
    for number, (train, test) in enumerate(_folds(persons, folds, seed)):
        hook(Progress("learning", number, folds))
        known = train[trainable[train]]
        with _one_thread():
            first = _fitted(model, numeric, before[train], truth[train], seed)
            second = _fitted(model, numeric, after[known], shown[known], seed)
            predictions = [one(before[test]) for one in (first, second)]
            if not numeric and len(np.unique(truth)) == 2:
                scores[:, test] = [one.score(before[test]) for one in (first, second)]
        guess = np.mean(truth[train]) if numeric else _mode(truth[train])
        for place, predicted in enumerate((*predictions, np.full(len(test), guess))):
            right[place, test] = np.abs(predicted - truth[test]) if numeric else predicted == truth[test]
    if numeric:
        right /= right[2].mean() or 1.0
    one, two, none = (over_persons(part, persons) for part in right)
    auc = None if np.isnan(scores).any() else (_auc(scores[0], truth), _auc(scores[1], truth))
    return Learned(
        target,
        model,
        "error" if numeric else "accuracy",
        len(truth),
        int(trainable.sum()),
        one,
        two,
        none.value,
        over_persons(right[1] - right[0], persons),
        auc,
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


def _check(  # noqa: PLR0913, PLR0917 - what is to be learned, and from whom
    truth: Floats, trainable: NDArray[np.bool_], persons: Ints, folds: int, target: str, numeric: bool
) -> None:
    if len(np.unique(persons)) < 2 * folds or len(np.unique(persons[trainable])) < 2 * folds:
        raise RecodingError(
            f"There are too few persons to learn '{target}' in {folds} folds.",
            hint="Take fewer folds, or a release that shows the target of more records.",
        )
    if len(np.unique(truth)) < 2:
        raise RecodingError(f"Column '{target}' has one value only: there is nothing to predict.")
    if not numeric and len(np.unique(truth)) > CLASSES:
        raise RecodingError(
            f"Column '{target}' has {len(np.unique(truth)):,} categories: too many to predict.",
            hint="Choose a target with fewer categories, or a column of numbers.",
        )


def _folds(persons: Ints, folds: int, seed: int) -> list[tuple[Ints, Ints]]:
    """Deal whole persons out to the folds, by chance."""
    who, person = np.unique(persons, return_inverse=True)
    fold = np.random.default_rng(seed).permutation(len(who)) % folds
    of_record = fold[person]
    return [(np.flatnonzero(of_record != one), np.flatnonzero(of_record == one)) for one in range(folds)]


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A trained model; one that has seen a single value only always says that."""

    model: Any
    constant: float | None = None

    def __call__(self, features: Floats) -> Floats:
        if self.constant is not None:
            return np.full(len(features), self.constant)
        predicted: Floats = self.model.predict(features)
        return predicted

    def score(self, features: Floats) -> Floats:
        """Return how probable the second value is."""
        if self.constant is not None:
            return np.full(len(features), self.constant)
        shares: Floats = self.model.predict_proba(features)[:, -1]
        return shares


def _fitted(model: Model, numeric: bool, features: Floats, target: Floats, seed: int) -> _Fitted:
    if len(np.unique(target)) < 2:
        return _Fitted(None, float(target[0]))
    made = _made(model, numeric, seed)
    made.fit(np.where(np.isnan(features).all(axis=0), 0.0, features), target)  # a column without values tells nothing
    return _Fitted(made)


def _made(model: Model, numeric: bool, seed: int) -> Any:
    """Return an untrained model."""
    if model == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        kind = HistGradientBoostingRegressor if numeric else HistGradientBoostingClassifier
        return kind(max_iter=60, random_state=seed, early_stopping=False)
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    last = Ridge() if numeric else LogisticRegression(max_iter=1000)
    return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), last)


def _one_thread() -> AbstractContextManager[Any]:
    """Keep the library to one thread: on tables of this size more only wait for each other."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        limits = None
    else:
        limits = threadpool_limits(1)
    if limits is None:
        raise RecodingError(
            "Learning is done by scikit-learn, which is not installed.", hint='Run: pip install "shoal[analysis]".'
        )
    held: AbstractContextManager[Any] = limits
    return held


def _mode(values: Floats) -> float:
    held, counts = np.unique(values, return_counts=True)
    return float(held[counts.argmax()])


def _auc(scores: Floats, truth: Floats) -> float:
    """Return how probable it is that one with the second value scores above one with the first; ties count half."""
    second = truth == truth.max()
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    positive, negative = int(second.sum()), int((~second).sum())
    return float((ranks[second].sum() - positive * (positive + 1) / 2) / (positive * negative))
