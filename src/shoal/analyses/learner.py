"""Learners: models that predict numbers or categories."""

import warnings
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from shoal.errors import RecodingError
from shoal.recoding.nodes import Floats

Learner: TypeAlias = Literal["boosting", "forest", "linear", "network"]
LEARNERS: tuple[Learner, ...] = ("boosting", "forest", "linear", "network")


@dataclass(frozen=True, slots=True)
class Fitted:
    """Trained model. A model trained on a single value always predicts it; one trained on none predicts NaN.

    ``constant``: the value that is always predicted, if any. ``sure``: its probability.
    """

    model: Any
    constant: float | None = None
    sure: float = 1.0

    def __call__(self, features: Floats) -> Floats:
        """Return the predictions."""
        if self.constant is not None:
            return np.full(len(features), self.constant)
        predicted: Floats = self.model.predict(features)
        return predicted

    def score(self, features: Floats) -> Floats:
        """Return the probability of the second value."""
        if self.constant is not None:
            return np.full(len(features), self.constant)
        shares: Floats = self.model.predict_proba(features)[:, -1]
        return shares

    def surest(self, features: Floats) -> tuple[Floats, Floats]:
        """Return the most probable categories, and their probabilities according to the model."""
        if self.constant is not None:
            return np.full(len(features), self.constant), np.full(len(features), self.sure)
        shares: Floats = self.model.predict_proba(features)
        return np.asarray(self.model.classes_[shares.argmax(axis=1)], np.float64), shares.max(axis=1)


def fitted_to(model: Learner, numeric: bool, features: Floats, target: Floats, seed: int) -> Fitted:
    """Train a model.

    "boosting": histogram gradient boosting; "forest": fifty random trees, faster for many categories. Both accept
    missing cells. "linear": logistic or ridge regression; "network": three layers of 64. Both replace missing cells by
    the mean of the training records.
    """
    if len(np.unique(target)) < 2:
        return Fitted(None, float(target[0]) if len(target) else np.nan)
    learner = _made(model, numeric, seed)
    with warnings.catch_warnings():  # about many classes in few records, and networks that have not converged
        warnings.simplefilter("ignore", UserWarning)
        learner.fit(
            np.where(np.isnan(features).all(axis=0), 0.0, features), target
        )  # a column without values carries no information
    return Fitted(learner)


def _made(model: Learner, numeric: bool, seed: int) -> Any:
    """Return an untrained model."""
    if model == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        kind = HistGradientBoostingRegressor if numeric else HistGradientBoostingClassifier
        return kind(max_iter=60, random_state=seed, early_stopping=False)
    if model == "forest":
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        trees = RandomForestRegressor if numeric else RandomForestClassifier
        return trees(50, random_state=seed)
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    last = _network(numeric, seed) if model == "network" else Ridge() if numeric else LogisticRegression(max_iter=1000)
    return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), last)


def _network(numeric: bool, seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    kind = MLPRegressor if numeric else MLPClassifier
    return kind((64, 64, 64), max_iter=40, random_state=seed)


def one_thread() -> AbstractContextManager[Any]:
    """Limit the library to one thread: on tables of this size, more threads only wait for each other."""
    try:
        import sklearn.ensemble  # noqa: F401 - only loaded libraries can be limited
        from threadpoolctl import threadpool_limits
    except ImportError:
        limits = None
    else:
        limits = threadpool_limits(1)
    if limits is None:
        raise RecodingError(
            "not-installed",
            "Machine learning requires scikit-learn, which is not installed.",
            remedy='Run pip install "shoal[analysis]".',
        )
    context: AbstractContextManager[Any] = limits
    return context
