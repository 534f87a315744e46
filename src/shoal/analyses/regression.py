"""Regression: agreement of coefficients and their intervals.

Linear regression for numbers, logistic regression for a column with two values. Standard errors account for several
records per person (sandwich estimator, clustered by person).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.estimate import Estimate
from shoal.analyses.study import Study
from shoal.errors import RecodingError
from shoal.recoding.nodes import Floats, Ints
from shoal.sheet import Presentable, Sheet
from shoal.words import share, short


@dataclass(frozen=True, slots=True)
class Coefficient:
    """Coefficient before and after; None if the release gives none. ``overlap``: the overlap of the intervals."""

    term: str
    before: Estimate
    after: Estimate | None

    @property
    def overlap(self) -> float | None:
        """The overlap of the two intervals, 1 if they are equal; None if the release gives no coefficient."""
        return None if self.after is None else self.before.overlap(self.after)

    @property
    def same_conclusion(self) -> bool:
        """Whether both intervals are above 0, both below, or both include it."""
        return self.after is not None and _sign(self.before) == _sign(self.after)


@dataclass(frozen=True, slots=True, repr=False)
class Regressed(Presentable):
    """Coefficients of a regression. ``kind``: "linear", "logistic" or "cox" (logarithms of hazard ratios).

    ``records_before``, ``records_after``: the number of complete records.
    """

    outcome: str
    kind: str
    coefficients: tuple[Coefficient, ...]
    records_before: int
    records_after: int

    @property
    def overlap(self) -> float:
        """The mean overlap of the intervals; a coefficient that the release does not give counts as 0."""
        return float(np.mean([max(coefficient.overlap or 0.0, 0.0) for coefficient in self.coefficients]))

    def sheet(self) -> Sheet:
        """Return the coefficients before and after, with their intervals."""
        rows = [
            (
                coefficient.term,
                *(_written(coefficient) for coefficient in (coefficient.before, coefficient.after)),
                "yes" if coefficient.same_conclusion else "no",
            )
            for coefficient in self.coefficients
        ]
        overlap = f"intervals overlap by {share(self.overlap)} on average"
        title = f"{self.kind.capitalize()} regression of {self.outcome}: {overlap}"
        return Sheet(title, ("term", "original", "release", "same conclusion"), tuple(rows))


def _written(estimate: Estimate | None) -> str:
    return "–" if estimate is None else f"{short(estimate.value)} ({short(estimate.low)} – {short(estimate.high)})"


def regress(study: Study, outcome: str, columns: Sequence[str]) -> Regressed:
    """Regress an outcome on some columns, before and after.

    >>> import shoal
    >>> before = {"x": [1, 2, 3, 4, 5, 6], "y": [1.0, 2.2, 2.9, 4.1, 5.0, 6.0]}
    >>> found = shoal.compare(before, {"x": ["1-2", "1-2", "3-4", "3-4", "5-6", "5-6"], "y": before["y"]})
    >>> made = found.regression("y", ["x"])
    >>> made.kind, [round(one.before.value, 3) for one in made.coefficients]
    ('linear', [0.073, 0.989])
    """
    logistic = len(study.recoding[outcome].domain.column.values) == 2
    truth = study.yes_or_no(outcome) if logistic else study.numbers(outcome)
    features = study.features(columns)
    terms = [name for name, left in zip(features.names, features.reference, strict=True) if not left]
    middle = np.nan_to_num(np.nanmean(features.before[:, ~features.reference], axis=0))
    designs = [_with_intercept(part[:, ~features.reference] - middle) for part in (features.before, features.after)]
    there = np.ones(len(study.rows), bool), study.released
    fits = [
        _estimates(design, values, study.persons, shown, middle, logistic=logistic)
        for design, values, shown in zip(designs, truth, there, strict=True)
    ]
    hint = (
        "There may be too few complete records, dependent columns, or a category with few records that determines the "
        "outcome."
    )
    event = f"{outcome}={study.recoding[outcome].domain.column.labels()[1]}" if logistic else outcome
    return together(event, "logistic" if logistic else "linear", ["(intercept)", *terms], fits, hint)


# Coefficients (None for a term that no record has) and the number of records; None if there is no estimate.
Estimated: TypeAlias = tuple[list[Estimate | None], int] | None


def together(outcome: str, kind: str, terms: Sequence[str], fits: Sequence[Estimated], hint: str) -> Regressed:
    """Return the coefficients before and after side by side; refuse a regression without coefficients before."""
    before, after = fits
    if before is None or None in before[0]:
        raise RecodingError(
            "no-regression",
            "The regression of '{outcome}' cannot be estimated from the original.",
            remedy=hint,
            outcome=outcome,
        )
    known = [fit for fit in before[0] if fit is not None]
    pairs = zip(terms, known, [None] * len(terms) if after is None else after[0], strict=True)
    return Regressed(
        outcome, kind, tuple(Coefficient(*part) for part in pairs), before[1], 0 if after is None else after[1]
    )


def _sign(estimate: Estimate) -> int:
    return (estimate.low > 0) - (estimate.high < 0)


def _with_intercept(features: Floats) -> Floats:
    return np.column_stack([np.ones(len(features)), features])


def _estimates(  # noqa: PLR0913 - the inputs of a fit
    design: Floats, truth: Floats, persons: Ints, shown: NDArray[np.bool_], middle: Floats, *, logistic: bool
) -> Estimated:
    """Fit the complete records; None if that is not possible. Columns are centred, which is undone here.

    A column that is constant in these records, such as a category that no record has, gets no coefficient.
    """
    whole = shown & ~np.isnan(truth) & ~np.isnan(design).any(axis=1)
    design, truth, persons = design[whole], truth[whole], persons[whole]
    if not len(design):
        return None
    varied = np.concatenate([[True], np.ptp(design[:, 1:], axis=0) > 0])
    fit = logistic_fit(design[:, varied], truth) if logistic else linear_fit(design[:, varied], truth)
    if fit is None or len(np.unique(persons)) <= np.count_nonzero(varied):
        return None
    values, scores, bread = fit
    back = np.eye(len(values))
    back[0, 1:] = -middle[varied[1:]]
    values, covariance = back @ values, back @ sandwich(scores, bread, persons) @ back.T
    errors = np.sqrt(np.diag(covariance))
    return placed(varied, values, errors), len(truth)


def placed(varied: NDArray[np.bool_], values: Floats, errors: Floats) -> list[Estimate | None]:
    """Return an estimate for each column that varies, and None for the others."""
    estimates: list[Estimate | None] = [None] * len(varied)
    for place, value, error in zip(np.flatnonzero(varied), values.tolist(), errors.tolist(), strict=True):
        estimates[place] = Estimate.normal(value, error)
    return estimates


Fit = tuple[Floats, Floats, Floats]  # coefficients, score of each record, inverse of the information matrix


def linear_fit(design: Floats, truth: Floats) -> Fit | None:
    """Fit by least squares; None if columns are linearly dependent or there are too few records."""
    bread = _inverse(design.T @ design) if len(truth) > design.shape[1] else None
    if bread is None:
        return None
    values = bread @ (design.T @ truth)
    return values, design * (truth - design @ values)[:, None], bread


def logistic_fit(design: Floats, truth: Floats) -> Fit | None:
    """Fit by Newton's method; None if there is no finite solution."""
    if len(truth) <= design.shape[1] or len(np.unique(truth)) < 2:
        return None
    values = np.zeros(design.shape[1])
    for _ in range(30):
        shares = 1 / (1 + np.exp(-np.clip(design @ values, -35, 35)))
        bread = _inverse((design * (shares * (1 - shares))[:, None]).T @ design)
        if bread is None:
            return None
        step = bread @ (design.T @ (truth - shares))
        values = values + step
        if np.abs(step).max() < 1e-9:
            return values, design * (truth - shares)[:, None], bread
    return None


def sandwich(scores: Floats, bread: Floats, persons: Ints) -> Floats:
    """Return the covariance of the coefficients, clustered by person (Liang & Zeger 1986)."""
    _, person = np.unique(persons, return_inverse=True)
    number = int(person.max()) + 1
    summed = np.column_stack([np.bincount(person, column, number) for column in scores.T])
    return bread @ (summed.T @ summed) @ bread * (number / max(number - 1, 1))


def _inverse(matrix: Floats) -> Floats | None:
    """Return the inverse of a matrix; None if it is singular or nearly so."""
    scale = np.sqrt(np.diag(matrix))
    if not (scale > 0).all():
        return None
    scaled = matrix / np.outer(scale, scale)
    if np.linalg.cond(scaled) > 1e10:
        return None
    inverse: Floats = np.linalg.inv(scaled) / np.outer(scale, scale)
    return inverse
