"""Precision."""

from typing import ClassVar

import numpy as np

from shoal.models.model import Better
from shoal.qualities.quality import QUALITIES, Aspect, ColumnQuality, NotMeasurableError, Score
from shoal.recoding.nodes import Fate, Floats
from shoal.recoding.recoding import Recoded


@QUALITIES.register("precision")
class Precision(ColumnQuality):
    """How far down the hierarchy values still are.

    A cell on level h of a hierarchy of height H keeps ``1 − h / H``, a suppressed one nothing; the mean over cells and
    columns is the precision. Sweeney 2002; "generalization intensity" in ARX's report. A set that the hierarchy does
    not have is on the lowest level on which its values are one; so is a label on several levels, in a foreign table.
    Value: 0 to 1, more is better. Cost: 1 − value.

    >>> import shoal
    >>> found = shoal.compare({"age": [31, 34]}, {"age": ["30-39", "31-34"]}, hierarchies={"age": {"kind": "interval",
    ...     "widths": [10]}})
    >>> found.quality["precision"].total.value
    0.5
    """

    name: ClassVar[str] = "precision"
    aspect: ClassVar[Aspect] = Aspect.VALUES
    better: ClassVar[Better] = Better.MORE

    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""
        return Score.kept(1 - recoded.mean(levels(recoded) / (height(recoded) or 1)))


def height(recoded: Recoded) -> int:
    """Return the number of the last level; a column without a hierarchy has its values and ``*``."""
    return 1 if recoded.domain.height is None else recoded.domain.height


def levels(recoded: Recoded) -> Floats:
    """Return the level of each node; suppressed cells are on the last one."""
    nodes = recoded.nodes
    if recoded.domain.height is None:
        if (recoded.node_counts[nodes.fates == Fate.COARSER] > 0).any():
            raise NotMeasurableError("it has no hierarchy to count levels of")
        return recoded.nodes.lost.astype(np.float64)
    return np.where(recoded.nodes.lost, height(recoded), nodes.levels).astype(np.float64)
