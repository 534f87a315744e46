"""The shortest hierarchy: the value itself, or suppression."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.hierarchy import Hierarchy, ladder
from shoal.hierarchy.spec import KINDS, Spec
from shoal.table.column import Column


@KINDS.register("suppression")
class Suppression(Spec):
    """The value itself, or suppression.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> bind(Suppression(), shoal.read({"sex": ["f", "m"]}), "sex").height
    1
    """

    kind: Literal["suppression"] = "suppression"

    def build(self, column: Column, counts: NDArray[np.int64], folder: Path) -> Hierarchy:
        """Bind to a column."""
        del counts, folder
        return ladder(column, [])

    def spread(self, labels: Sequence[str], folder: Path) -> NDArray[np.float64]:
        """Return 0 for each label, because only ``*`` covers several values."""
        del folder
        return np.zeros(len(labels))
