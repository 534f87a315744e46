"""Hierarchies bound to a column: for each level, the node of each code of the column.

Below the codes are the *leaves*, the values that the hierarchy contains. Often they are the values of the column; a
hierarchy from a file may contain more, and loss measures count all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import HierarchyError
from shoal.table.column import SUPPRESSED, Column

Labels: TypeAlias = Sequence[str | None]  # None: missing


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """One level: ``nodes[leaf]`` is the node of a leaf, ``labels[node]`` the label of a node (None: missing)."""

    nodes: NDArray[np.uint32]
    labels: tuple[str | None, ...]

    @classmethod
    def of(cls, labels: Labels) -> "Level":
        """Return the level with these leaf labels.

        Nodes are numbered in the order of their first leaf, so that they ascend with the leaves.
        """
        numbers: dict[str | None, int] = {}
        nodes = [numbers.setdefault(label, len(numbers)) for label in labels]
        return cls(np.array(nodes, np.uint32), tuple(numbers))

    def __len__(self) -> int:
        return len(self.labels)

    def leaf_counts(self) -> NDArray[np.int64]:
        """Return the number of leaves below each node."""
        return np.bincount(self.nodes, minlength=len(self))


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """The generalisation hierarchy of one column. Level 0 is the value itself; on the last level all is ``*``.

    ``leaves[code]``: the leaf of each code of the column.
    """

    column: str
    leaves: NDArray[np.uint32]
    levels: tuple[Level, ...]

    @property
    def height(self) -> int:
        """The number of the last level."""
        return len(self.levels) - 1

    def nodes(self, level: int) -> NDArray[np.uint32]:
        """Return the node of each code of the column on a level."""
        return self.levels[level].nodes[self.leaves]

    def missing_node(self, level: int) -> int | None:
        """Return the node of missing values on a level, if there is one."""
        labels = self.levels[level].labels
        return labels.index(None) if None in labels else None

    def suppressed_node(self, level: int) -> int | None:
        """Return the node of a level that is ``*``, if there is one."""
        labels = self.levels[level].labels
        return labels.index(SUPPRESSED) if SUPPRESSED in labels else None

    def labels(self, level: int) -> pa.StringArray:
        """Return the label of each code of the column on a level."""
        return pa.array(self.levels[level].labels, pa.string()).take(pa.array(self.nodes(level)))


def ladder(column: Column, rungs: Sequence[Labels], unknown: Sequence[bool] = ()) -> Hierarchy:
    """Build the hierarchy of a column whose values are the leaves.

    ``rungs``: for each level above the value itself, the label of each value. Missing and suppressed cells have no
    label there; they stay unchanged until the last level, on which all is ``*``. ``unknown``: values that are
    suppressed on every level.

    >>> import pyarrow as pa
    >>> from shoal.table.kind import Kind
    >>> column = Column("sex", Kind.TEXT, pa.array(["f", "m"]), missing=True)
    >>> ladder(column, []).labels(0).to_pylist(), ladder(column, []).labels(1).to_pylist()
    (['f', 'm', None], ['*', '*', '*'])
    """
    count = len(column.values)
    tail: list[str | None] = [None] * column.missing + [SUPPRESSED] * column.suppressed
    lost = set(np.flatnonzero(unknown).tolist())
    levels: list[Labels] = [
        [*(SUPPRESSED if place in lost else label for place, label in enumerate(rung)), *tail]
        for rung in (column.labels().to_pylist()[:count], *rungs)
    ]
    return assemble(column, np.arange(column.size), levels)


def assemble(column: Column, leaves: NDArray[np.integer], rungs: Sequence[Labels]) -> Hierarchy:
    """Build a hierarchy from the leaf labels of each level, add the last level if necessary, and check the nesting."""
    rungs = list(rungs)
    if set(rungs[-1]) != {SUPPRESSED}:
        rungs.append([SUPPRESSED] * len(rungs[0]))
    levels = tuple(Level.of(rung) for rung in rungs)
    _check_coarser(column.name, levels)
    return Hierarchy(column.name, leaves.astype(np.uint32), levels)


def _check_coarser(name: str, levels: Sequence[Level]) -> None:
    """Refuse a level that separates values that the level below has merged."""
    for number, (fine, coarse) in enumerate(pairwise(levels), 1):
        pairs = np.unique(np.stack([fine.nodes, coarse.nodes]), axis=1)
        torn = len(pairs[0]) - len(fine)
        if torn > 0:
            raise HierarchyError(
                "not-nested",
                "The levels of the hierarchy of column '{column}' are not nested: level {level} separates "
                "{groups:group} that level {lower} has merged.",
                remedy="Values with the same label on one level must have the same label on every level above.",
                column=name,
                level=number,
                groups=torn,
                lower=number - 1,
            )
