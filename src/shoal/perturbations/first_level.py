"""Hierarchies whose first level is a perturbation that shows sets: rounding, or top and bottom coding.

The values of such a quasi-identifier are generalised at least to this level.
"""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import HierarchyError
from shoal.hierarchy.hierarchy import Hierarchy, assemble
from shoal.hierarchy.spec import Spec
from shoal.remedy import ColumnSetting, either
from shoal.table.column import Column


class FirstLevel(Spec):
    """A hierarchy with a first level of its own below those of another specification, ``above``.

    ``perturbation``: the perturbation that the first level shows.
    """

    perturbation: Any
    above: Spec

    @property
    def of_data(self) -> bool:
        """Whether labels depend on other values of the column."""
        return self.above.of_data

    @abstractmethod
    def first(self, column: Column, counts: NDArray[np.int64]) -> tuple[Sequence[str], Spec]:
        """Return the label of each value on the first level, and the specification of the levels above it."""

    def build(self, column: Column, counts: NDArray[np.int64], folder: Path) -> Hierarchy:
        """Bind to a column."""
        labels, further = self.first(column, counts)
        above = further.build(column, counts, folder)
        if len(above.levels[0].nodes) != column.size:
            raise HierarchyError(
                "perturbed-and-explicit",
                "The hierarchy of column '{column}' contains further values, so that its perturbation cannot become "
                "its first level.",
                remedy=either("Remove the perturbation", ColumnSetting("hierarchy", {"kind": "interval"})),
                column=column.name,
            )
        tail = above.levels[0].labels
        own = [*labels, *(tail[node] for node in above.levels[0].nodes[len(labels) :])]
        rungs = [[level.labels[node] for node in level.nodes] for level in above.levels]
        try:
            return assemble(column, above.leaves, [rungs[0], own, *rungs[1:]])
        except HierarchyError as error:
            raise error.within("The perturbation does not fit the hierarchy, whose first level it becomes. ") from None

    def spread(self, labels: Sequence[str], folder: Path) -> NDArray[np.float64] | None:
        """Return the share of the domain that each label covers, as the other specification does."""
        return self.above.spread(labels, folder)
