"""Granularity, as reported by ARX."""

from typing import ClassVar

from shoal.models.model import Better
from shoal.qualities.loss import covered
from shoal.qualities.quality import QUALITIES, Aspect, CellQuality
from shoal.recoding.nodes import Floats, Nodes


@QUALITIES.register("granularity")
class Granularity(CellQuality):
    """1 − mean loss metric; the loss of a cell is the share of the other values that it may stand for.

    The mean is taken over records and columns. Iyengar 2002; "granularity" in ARX's quality report. Value: 0 to 1, more
    is better. Cost: 1 − value.

    >>> import shoal
    >>> shoal.compare({"x": list("abcd")}, {"x": list("ab**")}).quality["granularity"].total.value
    0.5
    """

    name: ClassVar[str] = "granularity"
    title: ClassVar[str] = "granularity: 1 − mean share of other values that a cell may stand for"
    aspect: ClassVar[Aspect] = Aspect.VALUES
    better: ClassVar[Better] = Better.MORE

    def cells(self, nodes: Nodes) -> Floats:
        """Return the share of the other values that each node may stand for."""
        return covered(nodes)
