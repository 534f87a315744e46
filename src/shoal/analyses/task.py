"""Tasks: the target and the features of a prediction before and after, and the persons of the records."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.learner import Fitted, Learner, fitted_to
from shoal.analyses.study import Study
from shoal.errors import RecodingError
from shoal.recoding.nodes import Floats, Ints

CLASSES = 50  # maximum number of categories of a target
MOST = 50_000  # maximum number of records to learn from; above it, persons are sampled


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Prediction task: features and target before and after, and the person of each record.

    ``columns``: the source column of each feature. ``truth``: the target in the original; ``shown``: the target in the
    release. ``trainable``: whether the release shows the record and a single value of its target.
    """

    target: str
    numeric: bool
    columns: tuple[str, ...]
    before: Floats
    after: Floats
    truth: Floats
    shown: Floats
    trainable: NDArray[np.bool_]
    persons: Ints

    @classmethod
    def of(cls, study: Study, target: str, columns: Sequence[str], seed: int) -> "Task":
        """Return the task of predicting a target from some columns."""
        truth, shown, numeric = _target(study, target)
        features = study.features([name for name in columns if name != target])
        rows = _sampled(study.persons, ~np.isnan(truth), seed)
        return cls(
            target,
            numeric,
            features.columns,
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
        """Refuse a target that cannot be learned."""
        known = self.persons[self.trainable]
        if len(np.unique(self.persons)) < 2 * folds or len(np.unique(known)) < 2 * folds:
            raise RecodingError(
                "too-few-individuals",
                "There are too few individuals to learn '{target}' in {folds} folds.",
                remedy="Use fewer folds, or a release that shows the target of more records.",
                target=self.target,
                folds=folds,
            )
        values = len(np.unique(self.truth))
        if values < 2:
            raise RecodingError(
                "constant-target",
                "Column '{target}' has only one value and cannot be predicted.",
                remedy="Choose another target.",
                target=self.target,
            )
        if not self.numeric and values > CLASSES:
            raise RecodingError(
                "too-many-categories",
                "Column '{target}' has {values:,} categories, which are too many to predict.",
                remedy="Choose a target with fewer categories, or a numeric column.",
                target=self.target,
                values=values,
            )

    def trained(self, train: Ints, model: Learner, seed: int) -> tuple[Fitted, Fitted]:
        """Train one model on the original, and one on the same records as released."""
        known = train[self.trainable[train]]
        return (
            fitted_to(model, self.numeric, self.before[train], self.truth[train], seed),
            fitted_to(model, self.numeric, self.after[known], self.shown[known], seed),
        )

    def guessing(self, train: Ints) -> Fitted:
        """Return the baseline model, which always predicts the mean of the training records or the most frequent value.

        The most frequent value is that of all records: of two that are nearly equally frequent, the training records
        have fewer of the one that the test records have more of.
        """
        if self.numeric:
            return Fitted(None, float(self.truth[train].mean()))
        values, counts = np.unique(self.truth, return_counts=True)
        return Fitted(None, float(values[counts.argmax()]))

    def errors(self, predicted: Floats, test: Ints) -> Floats:
        """Return the absolute error of each prediction; for categories, 1 if it is wrong and 0 if it is right."""
        off: Floats = np.abs(predicted - self.truth[test])
        return off if self.numeric else np.where(off > 0, 1.0, 0.0)


def _target(study: Study, name: str) -> tuple[Floats, Floats, bool]:
    """Return the target before and after: numbers, or codes of categories; NaN where it is missing.

    The last element is True for a numeric target.
    """
    column = study.recoding[name].domain
    if column.positions is not None and len(column.column.values) > 10:
        return (*study.numbers(name), True)
    before, after = study.categories(name)
    missing = len(column.column.values)
    return (*(np.where((codes < 0) | (codes >= missing), np.nan, codes) for codes in (before, after)), False)  # type: ignore[return-value]


def _sampled(persons: Ints, usable: NDArray[np.bool_], seed: int) -> NDArray[np.intp]:
    """Return the records to learn from: all of them, or those of randomly drawn persons."""
    records = np.flatnonzero(usable)
    if len(records) <= MOST:
        return records
    who = np.unique(persons[records])
    drawn = np.random.default_rng(seed).permutation(who)[: max(int(len(who) * MOST / len(records)), 2)]
    return records[np.isin(persons[records], drawn)]


def folds_of(persons: Ints, folds: int, seed: int) -> list[tuple[Ints, Ints]]:
    """Return the training and the test records of each fold; persons are assigned to folds at random."""
    who, person = np.unique(persons, return_inverse=True)
    fold = np.random.default_rng(seed).permutation(len(who)) % folds
    of_record = fold[person]
    return [(np.flatnonzero(of_record != fold), np.flatnonzero(of_record == fold)) for fold in range(folds)]
