"""Blank rows, whose quasi-identifiers are all ``*`` while those of other rows are not. They count as suppressed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.kernels.grouping import group_rows
from shoal.kernels.summing import summed
from shoal.search.evaluation import BySize
from shoal.search.objective import Counted, Ints
from shoal.search.space import Space

_TOGETHER = 1 << 24  # comparisons per block


@dataclass(frozen=True, eq=False)
class Blanks:
    """Rows grouped by ``levels``: the lowest level of each column on which the cell is blank.

    ``persons``, ``records``: the number in each group. ``nodes[j][l]``: the blank node of column j on level l, numbered
    across all columns; −1 if there is none.
    """

    levels: Ints
    persons: Ints
    records: Ints
    nodes: tuple[Ints, ...]

    @classmethod
    def of(cls, space: Space) -> "Blanks":
        """Determine, per row and column, the lowest level on which the cell is blank."""
        rows, members = space.shown_rows()
        heights = [len(ladder.sizes) for ladder in space.ladders]
        firsts = [
            np.where(blank.any(axis=0), blank.argmax(axis=0), len(blank))[ladder.places[codes]]
            for ladder, codes in zip(space.ladders, rows.codes, strict=True)
            for blank in [np.stack(ladder.blank())]
        ]
        groups = group_rows(
            [codes.astype(np.uint32) for codes in firsts], [height + 1 for height in heights], len(rows)
        )
        levels = np.stack(firsts, axis=-1)[groups.first].astype(np.int64)
        persons, records = (summed(groups.ids, counts, len(groups)) for counts in (members.counts, rows.counts))
        return cls(levels, persons, records, tuple(space.blank_nodes()))

    def under(self, levels: Ints) -> tuple[Ints, Ints]:
        """Return the number of persons and records that are blank under each scheme, given by its levels."""
        persons, records = (np.zeros(len(levels), np.int64) for _ in range(2))
        together = max(_TOGETHER // max(len(self.levels), 1), 1)
        for begin in range(0, len(levels), together):
            part = slice(begin, begin + together)
            hidden = (self.levels[None] <= levels[part, None]).all(axis=-1)
            persons[part], records[part] = hidden @ self.persons, hidden @ self.records
        return persons, records


@dataclass(frozen=True, eq=False)
class Blanking:
    """Evaluates schemes by class size and suppresses the blank class, unless it is the only one."""

    judge: BySize
    blanks: Blanks

    def work(self, rows: int) -> int:
        """Return the work of the underlying evaluator."""
        return self.judge.work(rows)

    def counted(self, schemes: Ints) -> Counted:
        """Count the classes that are too small and the blank class."""
        return self._without_blanks(self.judge.counted(schemes), self.judge.size)

    def by_sizes(self, schemes: Ints, sizes: Sequence[int]) -> list[Counted]:
        """Return the counts for each minimum size."""
        counted = self.judge.by_sizes(schemes, sizes)
        least = [max(size, self.judge.size) for size in sizes]
        return [self._without_blanks(part, size) for part, size in zip(counted, least, strict=True)]

    def another(self, *, keeping: bool = True) -> "Blanking":
        """Return a copy with its own working memory."""
        return Blanking(self.judge.another(keeping=keeping), self.blanks)

    def _without_blanks(self, counted: Counted, size: int) -> Counted:
        """Suppress the blank class where it meets the minimum size and other classes exist."""
        persons, records = self.blanks.under(counted.levels)
        kept = (persons >= size) & (counted.classes > 1)
        persons, records = persons * kept, records * kept
        nodes = counted.nodes.copy()
        for node, level in zip(self.blanks.nodes, counted.levels.T, strict=True):
            at = node[level]
            nodes[kept, at[kept]] += records[kept].astype(nodes.dtype)
        return replace(
            counted,
            suppressed=counted.suppressed + persons,
            lost=counted.lost + records,
            classes=counted.classes - kept,
            squares=counted.squares - np.square(records.astype(np.uint64)),
            nodes=nodes,
        )
