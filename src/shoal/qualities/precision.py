"""Precision."""

from typing import ClassVar

import numpy as np

from shoal.models.model import Better
from shoal.qualities.quality import QUALITIES, Aspect, CellQuality, NotMeasurableError, Score
from shoal.recoding.nodes import Domain, Fate, Floats, Nodes
from shoal.recoding.recoding import Recoded


@QUALITIES.register("precision")
class Precision(CellQuality):
    """1 − the average relative height of the released values in their hierarchies.

    A cell on level h of a hierarchy of height H keeps ``1 − h / H``, a suppressed cell 0; the precision is the mean
    over cells and columns. Sweeney 2002; "generalization intensity" in ARX's report. A set that is not a node of the
    hierarchy counts as the lowest level on which its values share a node. A label that occurs on several levels counts
    as the lowest of them. Value: 0 to 1, more is better. Cost: 1 − value.

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
        """Measure one column, if its cells have levels."""
        check_levels(recoded)
        return super().column(recoded)

    def cells(self, nodes: Nodes) -> Floats:
        """Return the level of each node relative to the height of the hierarchy."""
        return levels(nodes) / (height(nodes.domain) or 1)


def height(domain: Domain) -> int:
    """Return the number of the highest level; 1 without a hierarchy, for ``*`` above the values."""
    return 1 if domain.height is None else domain.height


def check_levels(recoded: Recoded) -> None:
    """Refuse a generalised column without a hierarchy."""
    if recoded.domain.height is None and (recoded.node_counts[recoded.nodes.fates == Fate.COARSER] > 0).any():
        raise NotMeasurableError("it has no hierarchy whose levels could be counted")


def levels(nodes: Nodes) -> Floats:
    """Return the level of each node; suppressed cells are on the highest one."""
    if nodes.domain.height is None:
        return nodes.lost.astype(np.float64)
    return np.where(nodes.lost, height(nodes.domain), nodes.levels).astype(np.float64)
