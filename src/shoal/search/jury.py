"""The jury of a local recoding: it says which groups of rows, whatever formed them, may be classes."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.classes.classes import Classes
from shoal.classes.histogram import Histogram
from shoal.errors import ModelError
from shoal.kernels.grouping import group
from shoal.models.evidence import Evidence
from shoal.search.goal import Goal
from shoal.search.objective import Ints
from shoal.search.plain import Plain

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]


class Jury:
    """Judges groups of the distinct rows under quasi-identifiers and sensitive columns by all models of a goal."""

    def __init__(self, goal: Goal) -> None:
        if isinstance(goal.evaluator, Plain) or goal.tables:
            raise ModelError(
                "Local recoding needs requirements of single classes, and a measure of single columns.",
                hint='Use recoding = "global", or a quality such as "loss" or "nue".',
            )
        self._goal, self._plain = goal, goal.plain
        self._shown = self._plain.base.grouped.shown
        codes = dict(zip([column.name for column in self._shown.quasi], self._shown.keys, strict=True))
        self.codes = tuple(codes[name] for name in goal.space.names)
        self.persons: Ints = self._shown.members.counts

    def __len__(self) -> int:
        return len(self.persons)

    def failing(self, rows: Rows, of_row: NDArray[np.uint32], number: int) -> Mask:
        """Tell which groups fail: first those that are too small, then the others by their values."""
        failing = np.bincount(of_row, self.persons[rows], number) < self._goal.size
        if failing.all() or self.by_size:
            return failing
        place = np.cumsum(~failing) - 1
        inside = ~failing[of_row]
        found = self._judged(rows[inside], place[of_row[inside]].astype(np.uint32), int((~failing).sum()))
        failing[~failing] = found
        return failing

    @property
    def least(self) -> int:
        """How many persons a class needs."""
        return self._goal.size

    @cached_property
    def by_size(self) -> bool:
        """Whether nothing else counts."""
        return all(model.enough(self._goal.evidence) is not None for model in self._goal.models)

    def _judged(self, rows: Rows, of_row: NDArray[np.uint32], number: int) -> Mask:
        """Ask every model about some classes, given by their rows."""
        classes, failing = self._classes(rows, of_row, number), np.zeros(number, bool)
        gatherer, space = self._goal.gatherer, self._goal.space
        for model in self._goal.models:
            for view in model.views(space.quasi, space.table.sensitive):
                failing |= model.failing(Evidence(classes, view.column, gatherer.hierarchies, gatherer.population))
        return failing

    def _classes(self, rows: Rows, of_row: NDArray[np.uint32], number: int) -> Classes:
        counts = self.persons[rows]
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
        return self._plain.base.instead(sizes, histograms)

    @property
    def of_shown(self) -> Rows:
        """Which of the distinct rows under the quasi-identifiers each of the rows is one of."""
        return self._plain.of_shown

    @cached_property
    def quasi_rows(self) -> int:
        """How many distinct rows there are under the quasi-identifiers."""
        return len(self._goal.space.table.distinct(self._goal.space.quasi))
