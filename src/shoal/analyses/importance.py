"""Importance: how much of a prediction hangs on each column."""

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
    """Return what is lost when the cells of a column are dealt out anew among the records that are tested.

    Breiman 2001. A model is trained on the original, fold by fold. Of categories: the share of predictions that are
    not right any more, up to 1; of numbers: how much larger the error is, as a share of that of the mean. The columns
    come in descending order.
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
    """Return features in which those of one column have gone to other records, all together."""
    mixed = features.copy()
    mixed[:, chosen] = features[rng.permutation(len(features))][:, chosen]
    return mixed


def giving_away(
    fitted: Fitted, features: Floats, truth: Floats, columns: Sequence[str], rng: np.random.Generator
) -> dict[str, float]:
    """Return the share of right predictions that hangs on each column, in descending order."""
    owners, right = np.array(columns), float((fitted(features) == truth).mean())
    lost = {
        name: right - float((fitted(dealt_out(features, owners == name, rng)) == truth).mean())
        for name in dict.fromkeys(columns)
    }
    return dict(sorted(lost.items(), key=lambda pair: -pair[1]))
