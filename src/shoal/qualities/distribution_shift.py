"""Shift of the distribution of the released values."""

from typing import ClassVar

import numpy as np

from shoal.qualities.quality import QUALITIES, Aspect, ColumnQuality, Score
from shoal.recoding.features import shown_codes
from shoal.recoding.nodes import Fate, Floats, Ints
from shoal.recoding.recoding import Recoded


@QUALITIES.register("distribution-shift")
class DistributionShift(ColumnQuality):
    """Greatest difference between the distributions of the original and of the released values of a column.

    Numbers and dates: ``max |F(x) − G(x)|``, with the cumulative distributions F of the original and G of the numbers
    that are shown, or the midpoints of intervals (Kolmogorov & Smirnov). Other values: ``½ Σ |p − q|``, with the shares
    p before and q after (total variation). Values are taken as shown, whether true of their record or not, so that this
    measure applies to perturbed columns; cells without a value are omitted. Value and cost: 0 to 1.

    >>> import shoal
    >>> found = shoal.compare({"x": [1, 2, 3, 4]}, {"x": [4, 3, 2, 1]}, in_order=True)
    >>> found.quality["distribution-shift"].total.value, found.quality["earth-mover"].total.value
    (0.0, 1.0)
    """

    name: ClassVar[str] = "distribution-shift"
    aspect: ClassVar[Aspect] = Aspect.RELATIONS
    matched: ClassVar[bool] = True
    of_perturbed: ClassVar[bool] = True

    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""
        places = recoded.domain.positions
        if places is not None:
            return Score.of_cost(_kolmogorov_smirnov(places[recoded.matched], recoded.values, recoded.counts))
        shown, fates = shown_codes(recoded), recoded.nodes.fates[recoded.at]
        told = (fates == Fate.KEPT) | (fates == Fate.CHANGED)
        if not recoded.counts[told].any():
            return Score.of_cost(1.0)
        after = np.bincount(np.where(shown < 0, recoded.domain.codes, shown)[told], recoded.counts[told])
        before = np.append(recoded.original, 0)
        after = np.pad(after, (0, len(before) - len(after)))
        return Score.of_cost(float(np.abs(before / before.sum() - after / after.sum()).sum() / 2))


def _kolmogorov_smirnov(before: Floats, after: Floats, counts: Ints) -> float:
    """Return the greatest difference of two cumulative distributions; 1 if nothing is shown."""
    known, shown = ~np.isnan(before), ~np.isnan(after)
    if not known.any() or not shown.any():
        return float(known.any() or shown.any())
    values, places = np.unique(np.concatenate([before[known], after[shown]]), return_inverse=True)
    sides = np.split(places, [int(known.sum())])
    shares = [
        np.bincount(at, weights, len(values)).cumsum() / weights.sum()
        for at, weights in zip(sides, (counts[known], counts[shown]), strict=True)
    ]
    return float(np.abs(shares[0] - shares[1]).max())
