"""The earth mover's distance between distributions."""

from typing import ClassVar

import numpy as np

from shoal.qualities.implied import implied, observed
from shoal.qualities.quality import QUALITIES, Aspect, ColumnQuality, Score
from shoal.recoding.nodes import Domain, Floats
from shoal.recoding.recoding import Recoded


@QUALITIES.register("earth-mover")
class EarthMover(ColumnQuality):
    """Earth mover's distance between the original and the released distribution of a column, mean over the columns.

    The minimum mean distance between the original distribution and the one implied by the cells that still carry
    information: on the scale of numbers and dates, as a share of their range; by rank for ordered categories; for text,
    all values are equally distant. Rubner 1998. Missing values have the maximum distance from all others. Value and
    cost: 0 to 1; 1 if nothing is shown.

    >>> import shoal
    >>> shoal.compare({"x": [0, 0, 10, 20]}, {"x": ["0-10", "0-10", "0-10", "20"]}).quality["earth-mover"].total.value
    0.0625
    """

    name: ClassVar[str] = "earth-mover"
    aspect: ClassVar[Aspect] = Aspect.RELATIONS

    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""
        before, after = observed(recoded), implied(recoded, lost=False)
        if after is None:
            return Score.of_cost(1.0)
        return Score.of_cost(_distance(recoded.domain, before, after / after.sum()))


def _distance(domain: Domain, before: Floats, after: Floats) -> float:
    """Return the cost of moving mass along the order of values, and at distance 1 to or from missing values."""
    if not domain.column.kind.ordered:
        return float(np.abs(before - after).sum() / 2)
    places = np.arange(len(domain.column.values), dtype=np.float64) if domain.positions is None else domain.positions
    on_scale = np.flatnonzero(~np.isnan(places))
    order = np.concatenate([on_scale, np.setdiff1d(np.arange(len(before)), on_scale)])  # missing values come last
    before, after, places, number = before[order], after[order], places[on_scale], len(on_scale)
    apart = float(np.abs(before[number:].sum() - after[number:].sum()))
    inside = float(min(before[:number].sum(), after[:number].sum()))
    if number < 2 or not inside or not places[-1] > places[0]:
        return apart
    surplus = np.cumsum(before[:number] / before[:number].sum() - after[:number] / after[:number].sum())[:-1]
    along = float((np.abs(surplus) * np.diff(places)).sum() / (places[-1] - places[0]))
    return apart + inside * along
