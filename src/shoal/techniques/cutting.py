"""Recursive partitioning: parts are cut in two, round by round, as long as both halves meet the requirements.

A part is cut at the median of the column in which it is widest; if a half fails, the next widest column is tried. A
part that cannot be cut further is a class. It is released as the smallest interval, or the lowest node of the
hierarchy, that covers its values.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.cuts import Ids, Ints, Parts
from shoal.kernels.grouping import group_rows
from shoal.progress import Hook, Progress
from shoal.search.goal import Goal
from shoal.techniques.axis import Axis, TreeAxis
from shoal.techniques.jury import Jury
from shoal.techniques.ranges import covered
from shoal.techniques.treatment import Treatment
from shoal.techniques.units import Units

_Stretches = tuple[Ints, Ints]
_Mask = NDArray[np.bool_]
_Persons = NDArray[np.uint64]


class Cutting:
    """One run of the partitioning. The width of a column is multiplied by its weight."""

    def __init__(  # noqa: PLR0913 - the rows, and how to cut them
        self, goal: Goal, jury: Jury, units: Units, chosen: Sequence[Axis], progress: Hook, *, strict: bool = True
    ) -> None:
        self._jury, self._units, self._axes, self._progress, self._strict = jury, units, chosen, progress, strict
        self._weights = goal.weighing(goal.space.names)
        pairs = zip(chosen, jury.codes, strict=True)
        places = np.stack([axis.places[codes[units.judged]] for axis, codes in pairs], axis=1)
        self._parts = Parts(places.astype(np.uint32), units.persons.astype(np.uint32))
        maps = [nodes for axis in chosen for nodes in axis.maps]
        self._groups = np.concatenate(maps)
        begins = np.concatenate([[0], np.cumsum([len(nodes) for nodes in maps])])
        firsts = np.concatenate([[0], np.cumsum([len(axis.maps) for axis in chosen])])
        self._at = [begins[first:last] for first, last in pairwise(firsts)]

    def coarsest(self) -> NDArray[np.uint32]:
        """Return the initial parts: a single one, unless the levels of a column are bounded."""
        places = self._parts.places.T
        trees = [
            (axis.maps[-1], codes) for axis, codes in zip(self._axes, places, strict=True) if isinstance(axis, TreeAxis)
        ]
        sizes = [int(nodes.max(initial=0)) + 1 for nodes, _ in trees]
        return group_rows([nodes[codes] for nodes, codes in trees], sizes, len(self._units)).ids

    def run(self, of_row: NDArray[np.uint32], hidden: _Mask) -> Treatment:
        """Cut the given groups of rows as far as the requirements allow; suppress groups that fail from the start."""
        order = np.lexsort((of_row, hidden)).astype(np.uint32)
        self._parts.order[:] = order
        shown = int(np.count_nonzero(~hidden))
        starts = np.flatnonzero(np.diff(of_row[order[:shown]].astype(np.int64), prepend=-1))
        ends = np.append(starts[1:], shown) if len(starts) else starts
        good = ~self._failing((starts, ends))
        left = hidden.copy()
        left[self._rows((starts[~good], ends[~good]))[0]] = True
        return self._local(self._cut_all((starts[good], ends[good])), left)

    def _cut_all(self, parts: _Stretches) -> _Stretches:
        """Cut parts in rounds until none can be cut further."""
        done: list[_Stretches] = []
        settled = 0
        while len(parts[0]):
            parts, whole = self._round(parts)
            done.append(whole)
            settled += int((whole[1] - whole[0]).sum())
            self._progress(Progress(f"cutting, {len(parts[0]):,} parts", settled, len(self._units)))
        return _joined(done)

    def _round(self, parts: _Stretches) -> tuple[_Stretches, _Stretches]:
        """Cut each part once, if possible; return the halves and the parts that stay whole."""
        starts, ends = parts
        spans = self._parts.spans(starts, ends)
        widths = self._widths(spans.low, spans.high)
        order = np.argsort(-widths, axis=1, kind="stable")
        whole, halves = np.ones(len(starts), bool), list[_Stretches]()
        for relaxed, deeper in self._ways:
            for rank in range(widths.shape[1]):
                open_ = np.flatnonzero(whole & (spans.sizes >= 2 * self._jury.least))
                open_ = open_[widths[open_, order[open_, rank]] >= 0]
                if not len(open_):
                    break
                columns, chosen = order[open_, rank], (starts[open_], ends[open_])
                at = self._cuts_at(spans.low[open_], spans.high[open_], columns, deeper)
                sizes = spans.sizes[open_]
                middles, left = self._parts.cut(*chosen, sizes, columns, self._groups, at, relaxed=relaxed)
                good = self._allowed(chosen, middles, left, sizes - left)
                halves += [(chosen[0][good], middles[good]), (middles[good], chosen[1][good])]
                whole[open_[good]] = False
        return _joined(halves), (starts[whole], ends[whole])

    def _widths(self, low: Ids, high: Ids) -> NDArray[np.float64]:
        """Return the weighted width of parts in each column; −1 where they cannot be cut."""
        widths = np.stack([axis.widths(low[:, j], high[:, j]) for j, axis in enumerate(self._axes)], axis=1)
        return np.where(low == high, -1.0, widths * self._weights)

    @property
    def _ways(self) -> list[tuple[bool, int]]:
        """The ways to cut a part, in order: between nodes, then between nodes on lower levels, then through a value.

        A few values on one side, such as the ages of the oldest, may prevent every cut between nodes. A cut on a lower
        level leaves only part of the records with them.
        """
        deepest = max((len(axis.maps) for axis in self._axes), default=1)
        between = [(False, deeper) for deeper in range(deepest)]
        return between if self._strict else [*between, (True, 0)]

    def _cuts_at(self, low: Ids, high: Ids, columns: Ints, deeper: int) -> Ints:
        """Return, for each part, the offset of the groups between which it is cut; ``deeper``: levels further down."""
        at = np.zeros(len(columns), np.int64)
        for j, axis in enumerate(self._axes):
            mine = np.flatnonzero(columns == j)
            at[mine] = self._at[j][np.maximum(axis.groups(low[mine, j], high[mine, j]) - deeper, 0)]
        return at

    def _allowed(self, parts: _Stretches, middles: Ints, left: NDArray[np.uint64], right: NDArray[np.uint64]) -> _Mask:
        """Return which cuts yield two classes that meet the requirements."""
        good = (middles > parts[0]) & (np.minimum(left, right) >= self._jury.least)
        if self._jury.by_size or not good.any():
            return good
        starts, ends, between = parts[0][good], parts[1][good], middles[good]
        halves = np.stack([starts, between], axis=1).ravel(), np.stack([between, ends], axis=1).ravel()
        good[good] = ~self._failing(halves).reshape(-1, 2).any(axis=1)
        return good

    def _failing(self, parts: _Stretches) -> _Mask:
        rows, of_row = self._rows(parts)
        units = self._units
        return self._jury.failing(units, rows, of_row, len(parts[0]))

    def _rows(self, parts: _Stretches) -> tuple[NDArray[np.intp], NDArray[np.uint32]]:
        """Return the rows of some parts, and the part of each row."""
        rows, _ = self._parts.rows(*parts)
        return rows, np.repeat(np.arange(len(parts[0]), dtype=np.uint32), parts[1] - parts[0])

    def _local(self, parts: _Stretches, left: _Mask) -> Treatment:
        """Return the treatment that generalises the rows of each part to a common value."""
        everything = np.zeros(1, np.int64), np.array([len(self._units)])
        starts, ends = parts if len(parts[0]) else everything  # irrelevant if all rows are suppressed
        rows, of_row = self._rows((starts, ends))
        part = np.zeros(len(self._units), np.intp)
        part[rows] = of_row
        spans = self._parts.spans(starts, ends)
        codes = [of_row[self._units.judged] for of_row in self._jury.codes]
        ends_of = list(zip(spans.low.T, spans.high.T, strict=True))
        return covered(self._units, self._axes, codes, part, ends_of, left)


def _joined(parts: Sequence[_Stretches]) -> _Stretches:
    starts, ends = (np.concatenate([np.zeros(0, np.int64), *(part[side] for part in parts)]) for side in range(2))
    return starts, ends
