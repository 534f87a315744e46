"""Area under the ROC curve: the probability that a positive record scores higher than a negative one."""

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.estimate import NORMAL, Estimate
from shoal.recoding.nodes import Floats, Ints


def area_under_curve(
    scores: Floats, positive: NDArray[np.bool_], persons: Ints | None = None, strata: Ints | None = None
) -> Estimate:
    """Return the area under the curve, with an interval that accounts for several records per person.

    ``A = P(x > y) + P(x = y) / 2`` for scores x of positive records and y of others. The interval is that of DeLong et
    al. 1988, and for several records per person that of Obuchowski 1997. From 0 to 1; 0.5 is guessing. ``strata``: only
    records of the same stratum are compared, such as those scored by the same model. A model that has learned nothing
    predicts the prevalence in its training records, which is low where the prevalence among the tested records is high.

    >>> area_under_curve(np.array([0.9, 0.4, 0.4, 0.1]), np.array([True, True, False, False])).value
    0.875
    """
    person = np.arange(len(scores)) if persons is None else np.unique(persons, return_inverse=True)[1]
    stratum = np.zeros(len(scores), np.intp) if strata is None else strata
    wins, pairs = np.zeros(len(scores)), np.zeros(len(scores))  # of each record against all of the other class
    for part in np.unique(stratum):
        here = np.flatnonzero(stratum == part)
        inside, outside = here[positive[here]], here[~positive[here]]
        wins[inside], pairs[inside] = _above(scores[inside], scores[outside]), len(outside)
        wins[outside], pairs[outside] = len(inside) - _above(scores[outside], scores[inside]), len(inside)
    number = float(pairs[positive].sum())
    if not number:
        return Estimate(0.5, 0.0, 1.0)
    area = float(wins[positive].sum()) / number
    apart = (wins - area * pairs) / number
    error = _error(apart, positive, pairs > 0, person)
    return Estimate(area, max(area - NORMAL * error, 0.0), min(area + NORMAL * error, 1.0))


def _error(apart: Floats, positive: NDArray[np.bool_], compared: NDArray[np.bool_], person: Ints) -> float:
    """Return the standard error. ``apart``: the influence of each record on the area."""
    number = int(person.max()) + 1
    kinds = [positive & compared, ~positive & compared]
    sums = [np.bincount(person[kind], apart[kind], number) for kind in kinds]
    having = [len(np.unique(person[kind])) for kind in kinds]
    if min(having) < 2:
        return float("inf")
    own = sum(float(part @ part) * count / (count - 1) for part, count in zip(sums, having, strict=True))
    return float(np.sqrt(max(own + 2 * float(sums[0] @ sums[1]) * number / (number - 1), 0.0)))


def _above(these: Floats, those: Floats) -> Floats:
    """Return the number of ``those`` that each of ``these`` exceeds; ties count half."""
    ordered = np.sort(those)
    below, up_to = (np.searchsorted(ordered, these, side) for side in ("left", "right"))
    return np.asarray((below + up_to) / 2)
