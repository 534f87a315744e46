"""Non-uniform entropy as it was before: made for full-domain generalisation."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from shoal.qualities.nue import greatest_loss, pooled
from shoal.qualities.quality import QUALITIES, Aspect, ColumnQuality, Score, lost_share
from shoal.recoding.recoding import Recoded, Recoding


@QUALITIES.register("nue-conventional")
class ConventionalNonUniformEntropy(ColumnQuality):
    """Non-uniform entropy for global recoding: the information lost by generalisation, in bits.

    ``Σ log₂(f(D', x) / f(D, x))`` over all records, where f is how many records show the same as record x before (D)
    and after (D'); a suppressed cell shows ``*``. Gionis & Tassa 2009. With local recoding or suppression it may come
    out too low, even below 0: a value that fewer records show counts as a gain (Prasser 2016). It is here because it
    has been published; ``nue`` is the one to use.

    Value: bits. Cost: the share of what is lost if everything is suppressed; it may be below 0, too.

    >>> import shoal
    >>> found = shoal.compare({"sex": list("mmmfff")}, {"sex": list("mm**ff")}).quality
    >>> round(found["nue-conventional"].total.value, 4), found["nue"].total.value
    (-3.5098, 2.0)
    """

    name: ClassVar[str] = "nue-conventional"
    aspect: ClassVar[Aspect] = Aspect.VALUES
    unit: ClassVar[str] = "bits"

    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""
        before, after = (counts[counts > 0].astype(float) for counts in (recoded.original, recoded.shown_counts))
        lost = float((after * np.log2(after)).sum() - (before * np.log2(before)).sum())
        most = greatest_loss(recoded)
        return Score(lost, lost / most if most else lost_share(recoded))

    def total(self, scores: Mapping[str, Score], recoding: Recoding) -> Score:
        """Return the sum of the columns, and its share of the sum of what they could lose."""
        return pooled(scores, recoding)
