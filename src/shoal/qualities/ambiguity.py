"""Ambiguity."""

from typing import ClassVar

import numpy as np

from shoal.qualities.quality import QUALITIES, Aspect, Measured, Quality, Score
from shoal.recoding.nodes import Floats
from shoal.recoding.recoding import Recoded, Recoding


@QUALITIES.register("ambiguity")
class Ambiguity(Quality):
    """Average number of original value combinations that a released record is consistent with.

    The product over the quasi-identifiers of the number of values that a cell may stand for, averaged over the records.
    Nergiz & Clifton 2007. Value: 1 up to the product of the domain sizes. Cost: ``log(value) / log(product)``, on a
    logarithmic scale because the product is astronomically large.

    >>> import shoal
    >>> round(shoal.compare({"x": list("abcd")}, {"x": list("ab**")}).quality["ambiguity"].total.value, 9)
    2.5
    """

    name: ClassVar[str] = "ambiguity"
    aspect: ClassVar[Aspect] = Aspect.VALUES
    unit: ClassVar[str] = "combinations"

    def measured(self, recoding: Recoding) -> Measured:
        """Multiply along rows in logarithms, which do not overflow."""
        width = np.sum([bits(column)[column.at] for column in recoding.of_quasi], axis=0)
        most = float(np.sum([np.log2(column.domain.size) for column in recoding.of_quasi]))
        largest = float(width.max())
        mean = largest + float(np.log2((recoding.counts * np.exp2(width - largest)).sum() / recoding.records))
        value = float(np.exp2(mean)) if mean < 1023 else np.inf
        return self.result(Score(value, mean / most if most else 0.0))


def bits(recoded: Recoded) -> Floats:
    """Return the binary logarithm of the number of values that each node may stand for."""
    leaves = np.where(recoded.nodes.lost, recoded.domain.size, np.maximum(recoded.nodes.leaves, 1))
    logarithms: Floats = np.log2(leaves)
    return logarithms
