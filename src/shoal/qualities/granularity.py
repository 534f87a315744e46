"""Granularity, as reported by ARX."""

from typing import ClassVar

from shoal.models.model import Better
from shoal.qualities.loss import covered
from shoal.qualities.quality import QUALITIES, Aspect, CellQuality
from shoal.recoding.nodes import Floats, Nodes


@QUALITIES.register("granularity")
class Granularity(CellQuality):
    """1 − loss, averaged over the columns.

    Iyengar 2002; "granularity" in ARX's quality report. Value: 0 to 1, more is better. Cost: 1 − value.

    >>> import shoal
    >>> shoal.compare({"x": list("abcd")}, {"x": list("ab**")}).quality["granularity"].total.value
    0.5
    """

    name: ClassVar[str] = "granularity"
    title: ClassVar[str] = "1 − loss metric, arithmetic mean by number of values"
    aspect: ClassVar[Aspect] = Aspect.VALUES
    better: ClassVar[Better] = Better.MORE

    def cells(self, nodes: Nodes) -> Floats:
        """Return the share of the other values that each node may stand for."""
        return covered(nodes)
