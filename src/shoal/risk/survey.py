"""Individual risk in a sample with survey weights (Benedetti & Franconi 1998)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.classes.classes import Classes
from shoal.errors import ModelError
from shoal.remedy import Setting
from shoal.table.missing import Missing
from shoal.table.table import Table

_FEW = 40  # maximum class size for the recurrence, used where the series needs too many terms
_ENOUGH = 1e-17


@dataclass(frozen=True, slots=True, eq=False)
class SurveyRisk:
    """Individual risk estimated from survey weights.

    ``risks[c]``: the expected risk of each person in class c. ``expected``: the expected number of re-identified
    persons.
    """

    risks: NDArray[np.float64]
    maximum: float
    average: float
    expected: float


def survey_risk(table: Table, quasi: tuple[str, ...] | None = None, missing: Missing = Missing.OWN) -> SurveyRisk:
    """Estimate the risk of each class from the survey weights of its persons.

    A class of f persons with the total weight F̂ has ``p = f / F̂``. Its size N in the population follows a negative
    binomial distribution, and the risk is the mean of 1 / N.

    >>> import shoal
    >>> table = shoal.read({"age": [34, 34, 71], "w": [10.0, 10.0, 50.0]}).assign(quasi=["age"], weight="w")
    >>> survey_risk(table).risks.round(4).tolist()
    [0.0827, 0.0798]
    """
    weight = next((name for name, role in table.roles.items() if role == "weight"), None)
    if weight is None:
        raise ModelError("no-weights", "No column contains survey weights.", remedy=Setting("data.weight"))
    classes = Classes.of(table, quasi, (weight,), missing=missing)
    histogram = classes.histograms[weight]
    weights = np.asarray(histogram.column.values, np.float64)[histogram.codes]
    people = np.add.reduceat(histogram.counts * weights, histogram.starts[:-1])
    risks = expected_inverse(classes.sizes, np.minimum(classes.sizes / people, 1.0))
    members = classes.members.counts
    expected = float((risks * members).sum())
    return SurveyRisk(risks, float(risks.max()), expected / int(members.sum()), expected)


def expected_inverse(sizes: NDArray[np.int64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of 1 / N for classes of f persons, which are a share p of the N in the population.

    ``∫₀¹ u^(f−1) · p / (p + (1 − p) u) du``. For f = 1, this is ``p / (1 − p) · ln(1 / p)``; each further f follows
    from the one before. For large p or f, the series ``p Σ (1 − p)^j · j! / (f (f + 1) … (f + j))`` converges quickly.

    >>> import numpy as np
    >>> expected_inverse(np.array([1, 2, 50]), np.array([0.1, 0.1, 1.0])).round(6).tolist()
    [0.255843, 0.082684, 0.02]
    """
    risks = np.empty(len(sizes))
    recurrent = (shares < 0.5) & (sizes <= _FEW)
    risks[recurrent] = _by_recurrence(sizes[recurrent], shares[recurrent])
    risks[~recurrent] = _by_series(sizes[~recurrent], shares[~recurrent])
    return risks


def _by_recurrence(sizes: NDArray[np.int64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    odds = shares / (1 - shares)
    risk = odds * -np.log(shares)
    for size in range(1, int(sizes.max(initial=1))):
        risk = np.where(sizes > size, odds * (1 / size - risk), risk)
    return risk


def _by_series(sizes: NDArray[np.int64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    term = shares / sizes
    total = term.copy()
    step = 1
    while len(term) and term.max() > _ENOUGH * total.max():
        term = term * (1 - shares) * step / (sizes + step)
        total += term
        step += 1
    return total
