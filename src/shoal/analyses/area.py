"""The area under the curve: how likely one of those who have a value scores higher than one of those who have not."""

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.estimate import NORMAL, Estimate
from shoal.recoding.nodes import Floats, Ints


def area_under_curve(scores: Floats, positive: NDArray[np.bool_], persons: Ints | None = None) -> Estimate:
    """Return the area, with an interval in which the records of a person count together.

    ``A = P(x > y) + P(x = y) / 2`` for scores x of positive records and y of others. The interval is that of DeLong et
    al. 1988, for several records of a person that of Obuchowski 1997. From 0 to 1; 0.5 is guessing.

    >>> area_under_curve(np.array([0.9, 0.4, 0.4, 0.1]), np.array([True, True, False, False])).value
    0.875
    """
    inside, outside = scores[positive], scores[~positive]
    if not len(inside) or not len(outside):
        return Estimate(0.5, 0.0, 1.0)
    above, below = _above(inside, outside), 1 - _above(outside, inside)
    area = float(above.mean())
    person = np.arange(len(scores)) if persons is None else np.unique(persons, return_inverse=True)[1]
    error = _error(above - area, below - area, person[positive], person[~positive])
    return Estimate(area, max(area - NORMAL * error, 0.0), min(area + NORMAL * error, 1.0))


def ranks(scores: Floats) -> Floats:
    """Return the places of scores in their order, from 0 to 1; those that are equal share one.

    Scores of models that were trained on different folds cannot be compared as they are: one that has learned nothing
    says the share of its fold, which is low where many of those that are tested have the value.

    >>> ranks(np.array([0.2, 0.9, 0.2, 0.5])).tolist()
    [0.25, 0.875, 0.25, 0.625]
    """
    return _above(scores, scores)


def _error(above: Floats, below: Floats, first: Ints, second: Ints) -> float:
    """Return the standard error; ``first``, ``second``: whose the records of each kind are."""
    number = int(max(first.max(), second.max())) + 1
    sums = [np.bincount(who, part, number) / len(part) for who, part in ((first, above), (second, below))]
    having = [len(np.unique(who)) for who in (first, second)]
    if min(having) < 2:
        return float("inf")
    own = sum(float(part @ part) * count / (count - 1) for part, count in zip(sums, having, strict=True))
    return float(np.sqrt(max(own + 2 * float(sums[0] @ sums[1]) * number / (number - 1), 0.0)))


def _above(these: Floats, those: Floats) -> Floats:
    """Return for each of these the share of those that it is above; ties count half."""
    ordered = np.sort(those)
    below, up_to = (np.searchsorted(ordered, these, side) for side in ("left", "right"))
    return np.asarray((below + up_to) / 2 / len(those))
