"""Survival: agreement of hazard ratios and survival curves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.estimate import NORMAL
from shoal.analyses.regression import Estimated, Regressed, placed, together
from shoal.analyses.study import Study
from shoal.errors import RecodingError
from shoal.recoding.nodes import Floats, Ints

GROUPS = 50  # maximum number of curves


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Kaplan–Meier curve: at ``times``, the surviving share drops to ``shares``; ``low``, ``high``: 95 % interval.

    ``records``: the number at the start. ``median``: the median survival time; None if it is not reached.
    """

    times: Floats
    shares: Floats
    low: Floats
    high: Floats
    records: int

    @property
    def median(self) -> float | None:
        """The median survival time; None if it is not reached."""
        below = np.flatnonzero(self.shares <= 0.5 + 1e-12)  # rounding may put a product of one half above it
        return float(self.times[below[0]]) if len(below) else None


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Curves of a group before and after; ``after`` is None if no record of the group is released.

    ``largest_gap``: the largest vertical distance between the two curves.
    """

    group: str
    before: Curve
    after: Curve | None

    @property
    def largest_gap(self) -> float | None:
        """The largest vertical distance between the curves; None without a curve after."""
        if self.after is None:
            return None
        times = np.union1d(self.before.times, self.after.times)
        return float(np.abs(_at(self.before, times) - _at(self.after, times)).max(initial=0.0))


def survive(study: Study, time: str, event: str, by: str | None = None) -> list[Curves]:
    """Return survival curves before and after, for all records or for each value of a column.

    >>> import shoal
    >>> before, after = {"days": [1, 2, 3, 4]}, {"days": ["1-2", "1-2", "3", "4"]}
    >>> died = {"died": [1, 0, 1, 1]}
    >>> (found,) = shoal.compare({**before, **died}, {**after, **died}).survival("days", "died")
    >>> found.before.shares.tolist(), found.after.times.tolist()
    ([0.75, 0.375, 0.0], [1.5, 3.0, 4.0])
    """
    _check_once(study)
    times, events = study.numbers(time), study.yes_or_no(event)
    there = np.ones(len(study.rows), bool), study.released
    labels, groups = ["all"], (np.zeros(len(study.rows), np.int64),) * 2
    if by is not None:
        texts = study.recoding[by].domain.column.labels().to_pylist()
        labels = ["(missing)" if text is None else str(text) for text in texts]
        groups = study.categories(by)
        if len(labels) > GROUPS:
            raise RecodingError(
                "too-many-groups",
                "Column '{column}' has {values:,} values. That is too many for a curve each.",
                remedy="Group by a column with fewer values.",
                column=by,
                values=len(labels),
            )
    curves_of = []
    for number, label in enumerate(labels):
        curves = [
            kaplan_meier(*(part[shown & (group == number)] for part in (when, what)))
            for when, what, shown, group in zip(times, events, there, groups, strict=True)
        ]
        if curves[0] is not None:
            curves_of.append(Curves(label, curves[0], curves[1]))
    return curves_of


def kaplan_meier(times: Floats, events: Floats) -> Curve | None:
    """Estimate the survival function; Greenwood's variance on the log(−log) scale (Kalbfleisch & Prentice 2002).

    >>> import numpy as np
    >>> kaplan_meier(np.array([1.0, 2, 3]), np.array([1.0, 1, 0])).shares.round(3).tolist()
    [0.667, 0.333]
    """
    known = ~(np.isnan(times) | np.isnan(events))
    times, events = times[known], events[known]
    if not len(times):
        return None
    moments = np.unique(times[events == 1])
    ordered, deaths = np.sort(times), np.sort(times[events == 1])
    at_risk = len(times) - np.searchsorted(ordered, moments, "left")
    died = np.searchsorted(deaths, moments, "right") - np.searchsorted(deaths, moments, "left")
    shares: Floats = np.cumprod(1 - died / at_risk).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.cumsum(died / (at_risk * (at_risk - died)))
        error = NORMAL * np.sqrt(variance) / np.abs(np.log(shares))
        low, high = shares ** np.exp(error), shares ** np.exp(-error)
    return Curve(moments, shares, np.nan_to_num(low), np.where(shares > 0, high, 0.0), len(times))


def cox(study: Study, time: str, event: str, columns: Sequence[str]) -> Regressed:
    """Estimate hazard ratios before and after; coefficients are their logarithms (Cox 1972, ties after Efron 1977)."""
    _check_once(study)
    times, events = study.numbers(time), study.yes_or_no(event)
    features = study.features(columns)
    terms = [name for name, left in zip(features.names, features.reference, strict=True) if not left]
    designs = [part[:, ~features.reference] for part in (features.before, features.after)]
    there = np.ones(len(study.rows), bool), study.released
    fits = [
        _hazards(design, when, what, shown)
        for design, when, what, shown in zip(designs, times, events, there, strict=True)
    ]
    hint = "There may be too few events, dependent columns, or a column that determines the event."
    return together(event, "cox", terms, fits, hint)


def _check_once(study: Study) -> None:
    """Refuse persons with several records: intervals would be too narrow, and the unit of survival would be unclear."""
    if len(np.unique(study.persons)) < len(study.persons):
        raise RecodingError(
            "several-records",
            "Survival analysis requires one record per individual, and some individuals have several.",
            remedy="Reduce the original and the release to one record per individual first.",
        )


def _hazards(design: Floats, times: Floats, events: Floats, shown: NDArray[np.bool_]) -> Estimated:
    whole = shown & ~np.isnan(times) & ~np.isnan(events) & ~np.isnan(design).any(axis=1)
    if not whole.any():
        return None
    varied = np.ptp(design[whole], axis=0) > 0
    fit = cox_fit(design[whole][:, varied], times[whole], events[whole].astype(np.int64)) if varied.any() else None
    return None if fit is None else (placed(varied, *fit), int(whole.sum()))


def cox_fit(design: Floats, times: Floats, events: Ints) -> tuple[Floats, Floats] | None:
    """Return the coefficients and standard errors of a Cox model; None if there is no finite solution.

    Ties are handled after Efron. Newton's steps are halved while they lower the likelihood, as for columns with a few
    very large values.
    """
    middle = design.mean(axis=0) if len(design) else 0.0
    order = np.argsort(-times, kind="stable")
    design, times, events = (design - middle)[order], times[order], events[order]
    values = np.zeros(design.shape[1])
    likelihood, score, information = _efron(design, times, events, values)
    for _ in range(60):
        if not np.isfinite(information).all() or np.linalg.cond(information) > 1e10:
            return None
        step = np.linalg.solve(information, score)
        after = _efron(design, times, events, values + step)
        while not after[0] >= likelihood - 1e-9 and np.abs(step).max() >= 1e-9:
            step /= 2
            after = _efron(design, times, events, values + step)
        values, (likelihood, score, information) = values + step, after
        if np.abs(values).max() > 50:
            return None
        if np.abs(step).max() < 1e-9:
            return values, np.sqrt(np.diag(np.linalg.inv(information)))
    return None


def _efron(design: Floats, times: Floats, events: Ints, values: Floats) -> tuple[float, Floats, Floats]:
    """Return the log partial likelihood, its gradient and its information; records are sorted by time, latest first."""
    scale = np.clip(design @ values, -50, 50)
    weight, likelihood = np.exp(scale), 0.0
    first = design * weight[:, None]
    number = design.shape[1]
    score, information = np.zeros(number), np.zeros((number, number))
    whole, mean, square = 0.0, np.zeros(number), np.zeros((number, number))  # sums over the risk set
    starts = np.flatnonzero(np.concatenate([[True], times[1:] != times[:-1]]))
    for start, end in zip(starts, [*starts[1:], len(times)], strict=True):
        whole += weight[start:end].sum()
        mean += first[start:end].sum(axis=0)
        square += first[start:end].T @ design[start:end]
        dying = start + np.flatnonzero(events[start:end])
        tied = weight[dying].sum(), first[dying].sum(axis=0), first[dying].T @ design[dying]
        score += design[dying].sum(axis=0)
        likelihood += float(scale[dying].sum())
        for part in np.arange(len(dying)) / max(len(dying), 1):
            left, middle = whole - part * tied[0], mean - part * tied[1]
            likelihood -= float(np.log(left))
            score -= middle / left
            information += (square - part * tied[2]) / left - np.outer(middle, middle) / left**2
    return likelihood, score, information


def _at(curve: Curve, times: Floats) -> Floats:
    """Return the surviving share at some times."""
    place = np.searchsorted(curve.times, times, "right")
    return np.concatenate([[1.0], curve.shares])[place]
