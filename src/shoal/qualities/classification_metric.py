"""The classification metric."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.errors import RecodingError
from shoal.kernels.grouping import group
from shoal.kernels.summing import summed
from shoal.kernels.translation import Codes
from shoal.qualities.quality import QUALITIES, Aspect, Measured, Quality, Score
from shoal.recoding.nodes import Ints
from shoal.recoding.recoding import Recoding
from shoal.remedy import Option


@QUALITIES.register("classification-metric")
class ClassificationMetric(Quality):
    """Share of records that are suppressed or whose class has another majority value of the target.

    A record is counted if it is suppressed, or if its target value is not the most frequent one in its class. Iyengar
    2002. Value: 0 to 1. Cost: 0 for the value of the original, 1 if every record is counted.

    >>> import shoal
    >>> before = {"x": list("abcd"), "ill": ["yes", "no", "no", "no"]}
    >>> after = {"x": ["{a, b}", "{a, b}", "{c, d}", "{c, d}"], "ill": ["yes", "no", "no", "no"]}
    >>> shoal.compare(before, after, quasi=["x"], target="ill").quality["classification-metric"].total.value
    0.25
    """

    name: ClassVar[str] = "classification-metric"
    aspect: ClassVar[Aspect] = Aspect.CLASSES
    across_columns: ClassVar[bool] = True
    matched: ClassVar[bool] = True

    target: str | None = Field(default=None, description="target column of the classifier")

    @property
    def beside(self) -> tuple[str, ...]:
        """The target column, if given."""
        return () if self.target is None else (self.target,)

    def measured(self, recoding: Recoding) -> Measured:
        """Return the share of suppressed and minority records."""
        if self.target is None:
            raise RecodingError(
                "no-target", "The classification metric requires a target column.", remedy=Option("target")
            )
        target = recoding[self.target]
        kept = ~recoding.suppressed
        size, width = recoding.records, target.domain.codes
        before = 1 - _right(recoding.originals.ids, target.matched, recoding.counts, width) / size
        of_row = recoding.classes.of_row
        value = 1 - _right(of_row[kept], target.matched[kept], recoding.counts[kept], width) / size
        cost = max((value - before) / (1 - before), 0.0) if before < 1 else 0.0
        return self.result(Score(value, cost))


def _right(classes: NDArray[np.uint32], targets: Codes, counts: Ints, width: int) -> int:
    """Count the records whose target value is the most frequent one in their class."""
    if not len(classes):
        return 0
    pairs = group(classes.astype(np.uint64) * np.uint64(width) + targets)
    sizes = summed(pairs.ids, counts, len(pairs))
    of_pair = classes[pairs.first]
    starts = np.flatnonzero(np.r_[True, of_pair[1:] != of_pair[:-1]])
    return int(np.maximum.reduceat(sizes, starts).sum())
