"""Recursive partitioning of persons with several records.

Persons are divided into groups, round by round. A column that does not change within persons is cut as in Mondrian: a
group becomes two, and its persons share the smallest node that covers their values. A column that changes within
persons cannot be cut without dividing persons: instead, its level is lowered for all records of the group. All records
of a person are thus released alike. A step is taken if every class of the group meets the requirements, where a class
consists of the records of a group with the same values. Of several possible steps, that in the widest column is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import changes, group_rows
from shoal.progress import Hook, Progress
from shoal.recoding.nodes import Floats, Nodes
from shoal.search.goal import Goal
from shoal.search.objective import Ints
from shoal.techniques.axis import TreeAxis
from shoal.techniques.jury import Jury
from shoal.techniques.treatment import Treatment
from shoal.techniques.units import Mask, Rows, Units


@dataclass(frozen=True, eq=False)
class _Axis:
    """A quasi-identifier. ``places[u]``: the place of unit u. ``varies``: whether it changes within persons."""

    tree: TreeAxis
    places: NDArray[np.uint32]
    varies: bool

    @property
    def top(self) -> int:
        """The highest rung."""
        return len(self.tree.maps) - 1


class PersonCutting:
    """One run of the partitioning. The width of a column is multiplied by its weight.

    ``group[u]``: the group of unit u. ``rungs[c][u]``: the rung of the ladder on which unit u shows column c, if the
    column changes within persons.
    """

    def __init__(self, goal: Goal, jury: Jury, axes: Sequence[TreeAxis], progress: Hook) -> None:
        self._jury, self._units, self._progress = jury, jury.units, progress
        self._weights = goal.weighing(goal.space.names)
        self.holders = _numbered(self._units)
        self._axes = [
            _Axis(axis, places := axis.places[codes[self._units.judged]], self._changes(places))
            for axis, codes in zip(axes, jury.codes, strict=True)
        ]

    def _changes(self, places: NDArray[np.uint32]) -> bool:
        first = np.zeros(int(self.holders.max(initial=-1)) + 1, places.dtype)
        first[self.holders] = places
        return bool((first[self.holders] != places).any())

    def coarsest(self) -> Treatment:
        """Divide all persons, who are initially released on the highest levels."""
        keys = [axis.tree.maps[-1][axis.places] for axis in self._axes if not axis.varies]
        group = group_rows(keys, [int(key.max(initial=0)) + 1 for key in keys], len(self._units)).ids
        rungs = [np.full(len(self._units), axis.top, np.int64) for axis in self._axes]
        return self.run(group, rungs, np.zeros(len(self._units), bool))

    def of_groups(self, groups: NDArray[np.uint32]) -> Treatment:
        """Return the treatment of given groups, whose columns that change within persons are released more precisely.

        ``groups``: the group of each unit, the same for all units of a person.
        """
        rungs = [np.full(len(self._units), axis.top, np.int64) for axis in self._axes]
        return self.run(groups, rungs, np.zeros(len(self._units), bool), divides=False)

    def finer(self, treatment: Treatment) -> Treatment:
        """Divide the persons of a treatment further; persons with suppressed records are suppressed.

        Persons are in the same group if their unchanging columns are released alike, and the others on the same levels.
        """
        of_row, changes = _rows_of(treatment, self._units), {change.name: change for change in treatment.generalised}
        ours = [changes[axis.tree.domain.column.name] for axis in self._axes]
        rungs = [
            np.zeros(len(of_row), np.int64) if change.levels is None else change.levels[of_row] - axis.tree.ladder.low
            for axis, change in zip(self._axes, ours, strict=True)
        ]
        keys = [
            (rung if axis.varies else change.shown[of_row]).astype(np.uint32)
            for axis, change, rung in zip(self._axes, ours, rungs, strict=True)
        ]
        group = group_rows(keys, [int(key.max(initial=0)) + 1 for key in keys], len(of_row)).ids
        return self.run(group, rungs, treatment.suppressed[of_row])

    def run(self, group: NDArray[np.uint32], rungs: Sequence[Ints], hidden: Mask, *, divides: bool = True) -> Treatment:
        """Divide groups as long as all classes meet the requirements; suppress persons in classes that never did.

        ``divides``: whether groups may be cut in two; otherwise only the levels of changing columns are lowered.
        """
        self._divides = divides
        self._rungs = [rung.copy() for rung in rungs]
        everyone = np.arange(len(hidden))
        self._left = ~self._units.whole(everyone, ~hidden)  # a person with a suppressed record counts as suppressed
        self._group = group.astype(np.int64)
        self._suppress_failing()
        open_ = np.unique(self._group[~self._left])
        while len(open_):
            open_ = self._round(open_)
            number = len(np.unique(self._group[~self._left]))
            self._progress(Progress(f"dividing individuals, {number:,} groups", number))
        return self._treatment()

    def _suppress_failing(self) -> None:
        """Suppress all records of persons in failing classes, until no class fails."""
        while True:
            kept = np.flatnonzero(~self._left)
            good = self._units.whole(kept, ~self._failing(kept, self._group[kept], self._rungs))
            if good.all():
                return
            self._left[kept[~good]] = True

    def _failing(self, chosen: Rows, group: Ints, rungs: Sequence[Ints]) -> Mask:
        """Return which of the chosen units are in a failing class, if they form groups and have rungs."""
        groups = np.unique(group, return_inverse=True)[1].astype(np.uint32)
        keys = [groups]
        for axis, rung in zip(self._axes, rungs, strict=True):
            if axis.varies:
                keys.append(np.stack(axis.tree.maps)[rung[chosen], axis.places[chosen]].astype(np.uint32))
        classes = group_rows(keys, [int(key.max(initial=0)) + 1 for key in keys], len(chosen))
        return self._jury.failing(self._units, chosen, classes.ids, len(classes))[classes.ids]

    def _round(self, open_: Ints) -> Ints:
        """Take one step in each group, if there is one; return the groups that may have another."""
        chosen = np.flatnonzero(~self._left & np.isin(self._group, open_))
        widths, again = self._widths(chosen, open_), np.zeros(len(open_), bool)
        order = np.argsort(-widths, axis=1, kind="stable")
        fresh: list[Ints] = []
        for rank in range(widths.shape[1]):
            columns = order[:, rank]
            trying = ~again & (widths[np.arange(len(open_)), columns] > 0)
            for column in np.unique(columns[trying]).tolist():
                groups = open_[trying & (columns == column)]
                taken, more = self._step(column, groups, chosen)
                again |= np.isin(open_, taken)
                fresh.append(more)
        return np.concatenate([open_[again], *fresh])

    def _widths(self, chosen: Rows, open_: Ints) -> Floats:
        """Return the weighted width of each open group in each column; 0 where no step is possible."""
        at = np.searchsorted(open_, self._group[chosen])
        counts = np.maximum(np.bincount(at, minlength=len(open_)), 1)
        widths = np.zeros((len(open_), len(self._axes)))
        for column, axis in enumerate(self._axes):
            places = axis.places[chosen]
            if axis.varies:
                rung = self._rungs[column][chosen]
                covered = np.where(rung > 0, axis.tree.covered(rung, places), 0.0)
                widths[:, column] = np.bincount(at, covered, len(open_)) / counts
            else:
                low, high = _ends(at, places, len(open_))
                widths[:, column] = np.where((low == high) | (not self._divides), 0.0, axis.tree.widths(low, high))
        return widths * self._weights

    def _step(self, column: int, groups: Ints, chosen: Rows) -> tuple[Ints, Ints]:
        """Take a step in a column; return the groups in which it was possible, and new groups."""
        inside = chosen[np.isin(self._group[chosen], groups)]
        if self._axes[column].varies:
            return self._lower(column, groups, inside), np.zeros(0, np.int64)
        left, fresh = groups, [np.zeros(0, np.int64)]
        for deeper in range(self._axes[column].top + 1):
            inside = chosen[np.isin(self._group[chosen], left)]
            side = self._sides(column, inside, deeper)
            group = self._group[inside] + side * (int(self._group.max()) + 1)
            taken = self._allowed(inside, left, group, self._rungs)
            moved = np.isin(self._group[inside], taken)
            fresh.append(np.unique(group[moved & (side > 0)]))
            self._group[inside[moved]] = group[moved]
            left = np.setdiff1d(left, taken)  # the others may be cut on a lower level
            if not len(left):
                break
        return np.setdiff1d(groups, left), np.concatenate(fresh)

    def _lower(self, column: int, groups: Ints, inside: Rows) -> Ints:
        """Lower the level of a column by one for all records of a group, where that is possible."""
        rungs = list(self._rungs)
        rungs[column] = self._rungs[column].copy()
        rungs[column][inside] -= 1
        taken = self._allowed(inside, groups, self._group[inside], rungs)
        lowered = inside[np.isin(self._group[inside], taken)]
        self._rungs[column][lowered] -= 1
        return taken

    def _allowed(self, inside: Rows, groups: Ints, group: Ints, rungs: Sequence[Ints]) -> Ints:
        """Return the groups of which no class would fail, and which would change."""
        failing = self._failing(inside, group, rungs)
        changed = (group != self._group[inside]) | np.any(
            [mine[inside] != then[inside] for mine, then in zip(self._rungs, rungs, strict=True)], axis=0
        )
        bad, some = self._group[inside[failing]], self._group[inside[changed]]
        return groups[~np.isin(groups, bad) & np.isin(groups, some)]

    def _sides(self, column: int, inside: Rows, deeper: int) -> Ints:
        """Return the side of each unit, 0 or 1, if each group is cut between nodes, as near to its median as possible.

        ``deeper``: the number of levels below the children of the node that covers the group.
        """
        axis, number = self._axes[column].tree, len(inside)
        groups, at = np.unique(self._group[inside], return_inverse=True)
        places = self._axes[column].places[inside]
        low, high = _ends(at, places, len(groups))
        rung = np.maximum(axis.groups(low, high) - deeper, 0)
        nodes = np.stack(axis.maps)[rung[at], places].astype(np.int64)
        order = np.lexsort((places, at))
        once = np.zeros(number, bool)  # one unit of each person counts
        once[np.unique(self.holders[inside], return_index=True)[1]] = True
        total = np.bincount(at, once, len(groups))
        below = np.cumsum(once[order])
        start = np.concatenate([[0], np.cumsum(total)[:-1]])
        group, node = at[order], nodes[order]
        new = np.ones(number, bool)
        new[1:] = (group[1:] != group[:-1]) | (node[1:] != node[:-1])
        before = below - once[order] - start[group]  # persons of the group on lower places
        cut = new & (np.concatenate([[-1], group[:-1]]) == group)
        distance = np.where(cut, np.abs(2 * before - total[group]), np.inf)
        nearest = np.full(len(groups), np.inf)
        np.minimum.at(nearest, group, distance)
        best = np.flatnonzero(cut & (distance == nearest[group]))
        first = best[np.unique(group[best], return_index=True)[1]]
        bound = np.full(len(groups), np.iinfo(np.int64).max)
        bound[group[first]] = places[order][first]
        return (places >= bound[at]).astype(np.int64)

    def _treatment(self) -> Treatment:
        """Return the treatment: nodes that cover a group, or the nodes of the level of a group."""
        kept = np.flatnonzero(~self._left)
        groups, at = np.unique(self._group[kept], return_inverse=True)
        sets = []
        for column, axis in enumerate(self._axes):
            rungs = self._rungs[column].copy()
            if not axis.varies and len(kept):
                low, high = _ends(at, axis.places[kept], len(groups))
                rungs[kept] = axis.tree.levels(low, high)[at] - axis.tree.ladder.low
            levels = rungs + axis.tree.ladder.low
            nodes, of_code = Nodes.on_levels(axis.tree.domain, axis.tree.ladder.hierarchy)
            codes = self._jury.codes[column][self._units.judged]
            sets.append((nodes, np.asarray(of_code[levels, codes]), levels))
        return Treatment.of_units(self._units, sets, self._left)


def _numbered(units: Units) -> NDArray[np.int64]:
    """Return the number of the person of each unit."""
    if units.holders is None:
        return np.arange(len(units))
    return np.unique(units.holders, return_inverse=True)[1]


def _ends(at: Ints, places: NDArray[np.uint32], number: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the lowest and the highest place of each group."""
    low, high = np.full(number, np.iinfo(np.uint32).max, np.uint32), np.zeros(number, np.uint32)
    np.minimum.at(low, at, places)
    np.maximum.at(high, at, places)
    return low, high


def _rows_of(treatment: Treatment, units: Units) -> Rows:
    """Return the row of a treatment to which each unit belongs; it may not distinguish persons."""
    if treatment.rows.columns == units.rows.columns:
        return units.of_row
    columns = len(treatment.rows.columns)  # the rows of units are in the same order, and divided by person
    return np.cumsum(changes(units.rows.codes[:columns], len(units.rows)), dtype=np.intp)[units.of_row]
