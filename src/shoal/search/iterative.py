"""Local recoding, scheme by scheme: what passes is kept as fine as it is, and the rest goes on.

All schemes are tried, the cheapest first. Records that form a passing class under a scheme are kept under it; only the
others are looked at again. ARX's iterative recoding does so with a few dozen schemes; here every scheme has its turn,
so no record is made coarser while a cheaper scheme would do for it and for enough others that are left.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.classes.classes import Classes
from shoal.classes.histogram import Histogram
from shoal.errors import ModelError
from shoal.kernels.grouping import group, group_rows
from shoal.models.evidence import Evidence
from shoal.progress import Hook, Progress, silent
from shoal.search.goal import Goal
from shoal.search.objective import Ints, LevelObjective
from shoal.search.plain import Plain

Mask = NDArray[np.bool_]
_TOLD = 256  # schemes between two reports
_TRIED = 100  # classes that leftover records try to join


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """What distinct rows show: row r is on level ``levels[r, j]`` in quasi-identifier j of the space's ``names``.

    ``suppressed[r]``: whether it found no class. ``persons``: how many that are.
    """

    levels: Ints
    suppressed: Mask
    persons: int


def iterative(goal: Goal, progress: Hook = silent) -> Local:
    """Keep what passes under the cheapest scheme, and go on with the rest.

    Records that are left at the end join the class for which that costs least; if none takes them, they are suppressed.
    """
    if isinstance(goal.evaluator, Plain) or not isinstance(goal.objective, LevelObjective) or goal.tables:
        raise ModelError(
            "Local recoding needs requirements of single classes, and a measure of single columns.",
            hint='Use recoding = "global", or a quality such as "loss" or "nue".',
        )
    return _Iteration(goal, goal.objective, progress).run()


class _Iteration:
    """One run over the distinct rows under quasi-identifiers and sensitive columns."""

    def __init__(self, goal: Goal, objective: LevelObjective, progress: Hook) -> None:
        self._goal, self._objective, self._progress, self._space = goal, objective, progress, goal.space
        self._plain = goal.plain
        self._shown = self._plain.base.grouped.shown
        codes = dict(zip([column.name for column in self._shown.quasi], self._shown.keys, strict=True))
        self._nodes = [
            _ladder_nodes(ladder.places[codes[name]], ladder.steps)
            for name, ladder in zip(self._space.names, self._space.ladders, strict=True)
        ]
        self._sizes = [ladder.sizes for ladder in self._space.ladders]
        self._levels = np.zeros((len(self._shown.members.counts), len(self._nodes)), np.int64)
        self._left = np.ones(len(self._levels), bool)

    def run(self) -> Local:
        schemes = np.stack(np.unravel_index(np.arange(len(self._space)), self._space.shape), axis=-1)
        order = np.argsort(self._objective.floors(schemes), kind="stable")
        for done, scheme in enumerate(schemes[order]):
            if done % _TOLD == 0:
                kept = int(self._shown.members.counts[~self._left].sum())
                self._progress(Progress(f"recoding, {kept:,} persons done", done, len(order)))
            self._keep(scheme)
            if not self._left.any():
                break
        self._join()
        return self._by_quasi_row()

    def _keep(self, levels: Ints) -> None:
        """Keep the rows that form passing classes under a scheme, of those that are left."""
        rows = np.flatnonzero(self._left)
        of_row, number = self._grouped(rows, levels)
        passing = ~self._failing(rows, of_row, number)
        taken = rows[passing[of_row]]
        self._levels[taken] = levels
        self._left[taken] = False

    def _grouped(self, rows: NDArray[np.intp], levels: Ints) -> tuple[NDArray[np.uint32], int]:
        used = [column for column, level in enumerate(levels) if self._sizes[column][level] > 1]
        keys = [self._nodes[column][levels[column]][rows] for column in used]
        groups = group_rows(keys, [self._sizes[column][levels[column]] for column in used], len(rows))
        return groups.ids, len(groups)

    def _failing(self, rows: NDArray[np.intp], of_row: NDArray[np.uint32], number: int) -> Mask:
        """Tell which classes fail: first those that are too small, then the others by their values."""
        counts = self._shown.members.counts[rows]
        failing = np.bincount(of_row, counts, number) < self._goal.size
        if failing.all() or self._by_size:
            return failing
        place = np.cumsum(~failing) - 1
        inside = ~failing[of_row]
        found = self._judged(rows[inside], place[of_row[inside]].astype(np.uint32), int((~failing).sum()))
        failing[~failing] = found
        return failing

    @cached_property
    def _by_size(self) -> bool:
        return all(model.enough(self._goal.evidence) is not None for model in self._goal.models)

    def _judged(self, rows: NDArray[np.intp], of_row: NDArray[np.uint32], number: int) -> Mask:
        """Ask every model about some classes, given by their rows."""
        classes, failing = self._classes(rows, of_row, number), np.zeros(number, bool)
        gatherer = self._goal.gatherer
        for model in self._goal.models:
            for view in model.views(self._space.quasi, self._space.table.sensitive):
                failing |= model.failing(Evidence(classes, view.column, gatherer.hierarchies, gatherer.population))
        return failing

    def _classes(self, rows: NDArray[np.intp], of_row: NDArray[np.uint32], number: int) -> Classes:
        base, counts = self._plain.base, self._shown.members.counts[rows]
        sizes = np.bincount(of_row, counts, number).astype(np.int64)
        histograms = {}
        for column in self._shown.sensitive:
            codes = self._shown.codes[column.name][rows]
            groups = group(of_row.astype(np.uint64) * np.uint64(column.size) + codes, number * column.size)
            held = np.bincount(groups.ids, counts, len(groups)).astype(np.int64)
            reference = self._shown.reference[column.name]
            at = groups.first
            histograms[column.name] = Histogram.of(
                column, of_row[at], codes[at].astype(np.uint32), held, number, reference
            )
        return base.instead(sizes, histograms)

    def _join(self) -> None:
        """Let the rows that are left join the class for which that costs least, if one takes them."""
        left, kept = np.flatnonzero(self._left), np.flatnonzero(~self._left)
        if not len(left) or not len(kept):
            return
        together = self._together(kept, left)
        shown = [self._nodes_at(column, kept) for column in range(len(self._nodes))]
        groups = group_rows(
            [*self._levels[kept].T.astype(np.uint32), *shown],
            [*self._space.shape, *(sizes[0] for sizes in self._sizes)],
            len(kept),
        )
        persons = np.bincount(groups.ids, self._shown.members.counts[kept], len(groups))
        now, then = self._levels[kept][groups.first], together[groups.first]
        rise = (self._objective.floors(then) - self._objective.floors(now)) * persons
        for place in np.argsort(rise, kind="stable")[:_TRIED].tolist():
            rows = np.concatenate([kept[groups.ids == place], left])
            if not self._failing(rows, np.zeros(len(rows), np.uint32), 1).any():
                self._levels[rows] = then[place]
                self._left[left] = False
                return

    def _nodes_at(self, column: int, rows: NDArray[np.intp]) -> NDArray[np.uint32]:
        return np.asarray(np.stack(self._nodes[column])[self._levels[rows, column], rows])

    def _together(self, kept: NDArray[np.intp], left: NDArray[np.intp]) -> Ints:
        """Return for each kept row the lowest levels on which it looks like all rows that are left."""
        found = self._levels[kept].copy()
        for column, nodes in enumerate(self._nodes):
            for level, held in enumerate(nodes):
                alike = bool((held[left] == held[left[0]]).all()) & (held[kept] == held[left[0]])
                later = ~alike & (found[:, column] <= level)
                found[later, column] = level + 1
        return found

    def _by_quasi_row(self) -> Local:
        """Return the same by distinct row under the quasi-identifiers; rows that differ in sensitive values agree."""
        of_shown, number = self._plain.of_shown, len(self._space.table.distinct(self._space.quasi))
        levels, suppressed = np.zeros((number, len(self._nodes)), np.int64), np.ones(number, bool)
        levels[of_shown] = self._levels + np.array([ladder.low for ladder in self._space.ladders])
        suppressed[of_shown] = self._left
        return Local(levels, suppressed, int(self._shown.members.counts[self._left].sum()))


def _ladder_nodes(lowest: NDArray[np.uint32], steps: tuple[NDArray[np.uint32], ...]) -> list[NDArray[np.uint32]]:
    nodes = [lowest]
    for step in steps:
        nodes.append(step[nodes[-1]])
    return nodes
