"""Importance: the contribution of each column to a prediction."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.estimate import Estimate, over_persons
from shoal.analyses.learner import Fitted, Learner, fitted_to, one_thread
from shoal.analyses.study import Study
from shoal.analyses.task import Task, folds_of
from shoal.progress import Hook, Progress, silent
from shoal.recoding.nodes import Floats


def importances(  # noqa: PLR0913 - keyword-only options
    study: Study,
    target: str,
    columns: Sequence[str],
    *,
    model: Learner = "boosting",
    folds: int = 5,
    seed: int = 0,
    progress: Hook | None = None,
) -> dict[str, Estimate]:
    """Return the permutation importance of each column, in descending order (Breiman 2001).

    A model is trained on the original, fold by fold, and the cells of a column are permuted among the tested records.
    For categories, the importance is the share of predictions that are no longer right, up to 1. For numbers, it is the
    increase of the error, as a share of the error of the mean.
    """
    task = Task.of(study, target, columns, seed)
    task.check(folds)
    rng, named = np.random.default_rng(seed), [name for name in dict.fromkeys(columns) if name != target]
    lost, guess = np.zeros((len(named), len(task.truth))), np.zeros(len(task.truth))
    for number, (train, test) in enumerate(folds_of(task.persons, folds, seed)):
        (progress or silent)(Progress("weighing columns", number, folds))
        with one_thread():
            fitted = fitted_to(model, task.numeric, task.before[train], task.truth[train], seed)
            right = task.errors(fitted(task.before[test]), test)
            guess[test] = task.errors(task.guessing(train)(task.before[test]), test)
            for place, name in enumerate(named):
                mixed = dealt_out(task.before[test], np.array(task.columns) == name, rng)
                lost[place, test] = task.errors(fitted(mixed), test) - right
    unit = (float(guess.mean()) or 1.0) if task.numeric else 1.0
    shares = {name: over_persons(part / unit, task.persons) for name, part in zip(named, lost, strict=True)}
    return dict(sorted(shares.items(), key=lambda pair: -pair[1].value))


def dealt_out(features: Floats, chosen: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    """Return the features with those of one column permuted among the records, jointly."""
    mixed = features.copy()
    mixed[:, chosen] = features[rng.permutation(len(features))][:, chosen]
    return mixed


def giving_away(
    fitted: Fitted, features: Floats, truth: Floats, columns: Sequence[str], rng: np.random.Generator
) -> dict[str, float]:
    """Return the decrease in the share of right predictions if each column is permuted, in descending order."""
    owners, right = np.array(columns), float((fitted(features) == truth).mean())
    lost = {
        name: right - float((fitted(dealt_out(features, owners == name, rng)) == truth).mean())
        for name in dict.fromkeys(columns)
    }
    return dict(sorted(lost.items(), key=lambda pair: -pair[1]))
