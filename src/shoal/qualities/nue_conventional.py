"""Conventional non-uniform entropy, designed for full-domain generalisation."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from shoal.qualities.nue import greatest_loss, pooled
from shoal.qualities.quality import QUALITIES, Aspect, ColumnQuality, Score, lost_share
from shoal.recoding.recoding import Recoded, Recoding


@QUALITIES.register("nue-conventional")
class ConventionalNonUniformEntropy(ColumnQuality):
    """Non-uniform entropy for global recoding: the information lost by generalisation, in bits.

    ``Σ log₂(f(D', x) / f(D, x))`` over all records, where f is the number of records with the same cell as record x
    before (D) and after (D'); a suppressed cell shows ``*``. Gionis & Tassa 2009. With local recoding or suppression,
    the value may be too low, even negative, because a value that fewer records show counts as a gain (Prasser 2016). It
    is provided because it has been published; ``nue`` is recommended instead.

    Value: bits. Cost: the value as a share of the loss if everything is suppressed; it may be negative as well.

    >>> import shoal
    >>> found = shoal.compare({"sex": list("mmmfff")}, {"sex": list("mm**ff")}).quality
    >>> round(found["nue-conventional"].total.value, 4), found["nue"].total.value
    (-3.5098, 2.0)
    """

    name: ClassVar[str] = "nue-conventional"
    title: ClassVar[str] = "non-uniform entropy, conventional"
    aspect: ClassVar[Aspect] = Aspect.VALUES
    unit: ClassVar[str] = "bits"

    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""
        before, after = (counts[counts > 0].astype(float) for counts in (recoded.original, recoded.shown_counts))
        lost = float((after * np.log2(after)).sum() - (before * np.log2(before)).sum())
        most = greatest_loss(recoded)
        return Score(lost, lost / most if most else lost_share(recoded))

    def total(self, scores: Mapping[str, Score], recoding: Recoding) -> Score:
        """Return the sum over the columns, and its share of the sum of their greatest losses."""
        return pooled(scores, recoding)
