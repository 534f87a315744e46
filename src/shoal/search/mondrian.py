"""Mondrian: rows are cut in two again and again, as long as both halves may be classes (LeFevre et al. 2006).

A part is cut at the median of the column in which it is widest; if a half fails, in the next one. What cannot be cut
any more is a class, and shows the smallest interval, or the lowest node of the hierarchy, that covers its values. All
parts are cut in rounds, together. The same cuts, begun with classes that are there already, undo generalisation cell
by cell: that is the refinement.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.cuts import Ids, Ints, Parts
from shoal.kernels.grouping import group_rows
from shoal.progress import Hook, Progress, silent
from shoal.search.axis import Axis, TreeAxis, axes
from shoal.search.goal import Goal
from shoal.search.jury import Jury
from shoal.search.local import Local

_Stretches = tuple[Ints, Ints]
_Mask = NDArray[np.bool_]
_Persons = NDArray[np.uint64]


def mondrian(goal: Goal, progress: Hook = silent, *, free: bool = True) -> Local:
    """Begin with everybody in one part; ``free``: numbers are cut anywhere, not only where their hierarchy does."""
    jury = Jury(goal)
    chosen = axes(goal.space, goal.bounds, free=free)
    coarsest = [axis.maps[-1][axis.places[codes]] for axis, codes in _trees(chosen, jury)]
    groups = group_rows(coarsest, [int(nodes.max(initial=0)) + 1 for nodes in coarsest], len(jury))
    weights = np.array([float(goal.weights.get(name, 1)) for name in goal.space.names])
    return _Cutting(jury, chosen, weights, progress).run(groups.ids, np.zeros(len(jury), bool))


def refined(goal: Goal, found: Local, progress: Hook = silent) -> Local:
    """Cut the classes of a recoding further, along the hierarchies; who is suppressed stays so."""
    jury = Jury(goal)
    chosen = axes(goal.space, goal.bounds, free=False)
    keys = [shown[jury.of_shown].astype(np.uint32) for shown in found.shown]
    groups = group_rows(keys, [int(key.max(initial=0)) + 1 for key in keys], len(jury))
    weights = np.array([float(goal.weights.get(name, 1)) for name in goal.space.names])
    return _Cutting(jury, chosen, weights, progress).run(groups.ids, found.suppressed[jury.of_shown])


def _trees(chosen: Sequence[Axis], jury: Jury) -> list[tuple[TreeAxis, Ids]]:
    pairs = zip(chosen, jury.codes, strict=True)
    return [(axis, codes) for axis, codes in pairs if isinstance(axis, TreeAxis)]


class _Cutting:
    """One run. ``weights``: how much wider than it is a column is taken to be."""

    def __init__(self, jury: Jury, chosen: Sequence[Axis], weights: NDArray[np.float64], progress: Hook) -> None:
        self._jury, self._axes, self._weights, self._progress = jury, chosen, weights, progress
        places = np.stack([axis.places[codes] for axis, codes in zip(chosen, jury.codes, strict=True)], axis=1)
        self._parts = Parts(places.astype(np.uint32), jury.persons.astype(np.uint32))
        maps = [held for axis in chosen for held in axis.maps]
        self._groups = np.concatenate(maps)
        begins = np.concatenate([[0], np.cumsum([len(held) for held in maps])])
        firsts = np.concatenate([[0], np.cumsum([len(axis.maps) for axis in chosen])])
        self._at = [begins[first:last] for first, last in pairwise(firsts)]

    def run(self, of_row: NDArray[np.uint32], hidden: _Mask) -> Local:
        """Cut the groups that rows are in, as far as these may be classes; others are suppressed."""
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
        """Cut parts in rounds until none can be."""
        done: list[_Stretches] = []
        settled = 0
        while len(parts[0]):
            parts, whole = self._round(parts)
            done.append(whole)
            settled += int((whole[1] - whole[0]).sum())
            self._progress(Progress(f"cutting, {len(parts[0]):,} parts", settled, len(self._jury)))
        empty = np.zeros(0, np.int64)
        starts, ends = (np.concatenate([empty, *(held[side] for held in done)]) for side in range(2))
        return starts, ends

    def _round(self, parts: _Stretches) -> tuple[_Stretches, _Stretches]:
        """Cut each part once, if it can be; return the halves, and the parts that stay whole."""
        starts, ends = parts
        spans = self._parts.spans(starts, ends)
        widths = self._widths(spans.low, spans.high)
        order = np.argsort(-widths, axis=1, kind="stable")
        open_ = np.flatnonzero((spans.sizes >= 2 * self._jury.least) & (widths.max(axis=1) >= 0))
        whole, halves = np.ones(len(starts), bool), []
        for rank in range(widths.shape[1]):
            columns = order[open_, rank]
            open_, columns = (held[widths[open_, columns] >= 0] for held in (open_, columns))
            if not len(open_):
                break
            at = self._cuts_at(spans.low[open_], spans.high[open_], columns)
            chosen = starts[open_], ends[open_]
            middles, left = self._parts.cut(*chosen, spans.sizes[open_], columns, self._groups, at)
            good = self._allowed(chosen, middles, left, spans.sizes[open_] - left)
            halves += [(chosen[0][good], middles[good]), (middles[good], chosen[1][good])]
            whole[open_[good]] = False
            open_ = open_[~good]
        empty = np.zeros(0, np.int64)
        first, last = (np.concatenate([empty, *(held[side] for held in halves)]) for side in range(2))
        return (first, last), (starts[whole], ends[whole])

    def _widths(self, low: Ids, high: Ids) -> NDArray[np.float64]:
        """Return how wide parts are in each column; −1 where they cannot be cut."""
        widths = np.stack([axis.widths(low[:, j], high[:, j]) for j, axis in enumerate(self._axes)], axis=1)
        return np.where(low == high, -1.0, widths * self._weights)

    def _cuts_at(self, low: Ids, high: Ids, columns: Ints) -> Ints:
        """Return where the groups begin that each part is cut between."""
        at = np.zeros(len(columns), np.int64)
        for j, axis in enumerate(self._axes):
            mine = np.flatnonzero(columns == j)
            at[mine] = self._at[j][axis.groups(low[mine, j], high[mine, j])]
        return at

    def _allowed(self, parts: _Stretches, middles: Ints, left: NDArray[np.uint64], right: NDArray[np.uint64]) -> _Mask:
        """Tell which cuts leave two classes that pass."""
        good = (middles > parts[0]) & (np.minimum(left, right) >= self._jury.least)
        if self._jury.by_size or not good.any():
            return good
        starts, ends, between = parts[0][good], parts[1][good], middles[good]
        halves = np.stack([starts, between], axis=1).ravel(), np.stack([between, ends], axis=1).ravel()
        good[good] = ~self._failing(halves).reshape(-1, 2).any(axis=1)
        return good

    def _failing(self, parts: _Stretches) -> _Mask:
        rows, of_row = self._rows(parts)
        return self._jury.failing(rows, of_row, len(parts[0]))

    def _rows(self, parts: _Stretches) -> tuple[NDArray[np.intp], NDArray[np.uint32]]:
        """Return the rows of some parts, and which part each is in."""
        lengths = parts[1] - parts[0]
        begins = np.cumsum(lengths) - lengths
        at = np.arange(int(lengths.sum())) + np.repeat(parts[0] - begins, lengths)
        return self._parts.order[at].astype(np.intp), np.repeat(np.arange(len(lengths), dtype=np.uint32), lengths)

    def _local(self, parts: _Stretches, left: _Mask) -> Local:
        """Return what the rows of each part show."""
        spans = self._parts.spans(*parts)
        rows, of_row = self._rows(parts)
        low, high = (np.zeros((len(self._jury), len(self._axes)), np.uint32) for _ in range(2))
        low[rows], high[rows] = spans.low[of_row], spans.high[of_row]
        return Local.of_stretches(self._jury, self._axes, low, high, left)
