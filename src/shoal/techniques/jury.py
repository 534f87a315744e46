"""The jury of a local recoding: it decides which groups of rows, however formed, meet the requirements as classes."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.classes.classes import Classes
from shoal.classes.histogram import Histogram
from shoal.classes.shown import showing
from shoal.engines.memory import MemoryEngine
from shoal.engines.protocol import DistinctRows
from shoal.errors import ModelError
from shoal.kernels.grouping import group
from shoal.models.evidence import Evidence
from shoal.models.model import Need, Scope
from shoal.qualities.quality import FigureQuality, LevelQuality
from shoal.remedy import Option, Setting, either
from shoal.search.goal import Goal
from shoal.search.objective import Ints
from shoal.table.missing import Missing
from shoal.table.table import Table
from shoal.techniques.technique import Gives, giving
from shoal.techniques.units import Rows, Units

Mask = NDArray[np.bool_]


class Jury:
    """Evaluation of groups of rows, distinct in quasi-identifiers and sensitive columns, by all models of a goal."""

    def __init__(self, goal: Goal) -> None:
        _check(goal)
        self._goal, self._plain = goal, goal.plain
        self._shown = self._plain.base.grouped.shown
        codes = dict(zip([column.name for column in self._shown.quasi], self._shown.keys, strict=True))
        self.codes = tuple(codes[name] for name in goal.space.names)
        self.persons: Ints = self._shown.members.counts

    def __len__(self) -> int:
        return len(self.persons)

    def failing(self, rows: Rows, persons: Ints, of_row: NDArray[np.uint32], number: int) -> Mask:
        """Return which groups fail: those that are too small, and those whose sensitive values violate a model.

        ``persons[i]`` persons of row ``rows[i]`` belong to the group ``of_row[i]``.
        """
        failing = np.bincount(of_row, persons, number) < self._goal.size
        if failing.all() or self.by_size:
            return failing
        place = np.cumsum(~failing) - 1
        inside = ~failing[of_row]
        groups = place[of_row[inside]].astype(np.uint32)
        failing[~failing] = self._judged(rows[inside], persons[inside], groups, int((~failing).sum()))
        return failing

    @property
    def least(self) -> int:
        """The minimum number of persons of a class."""
        return self._goal.size

    @cached_property
    def by_size(self) -> bool:
        """Whether the requirements concern class sizes only."""
        return all(model.enough(self._goal.evidence) is not None for model in self._goal.models)

    def _judged(self, rows: Rows, persons: Ints, of_row: NDArray[np.uint32], number: int) -> Mask:
        """Evaluate every model on some classes, given by their rows; return which classes fail."""
        classes, failing = self._classes(rows, persons, of_row, number), np.zeros(number, bool)
        gatherer, space = self._goal.gatherer, self._goal.space
        for model in self._goal.models:
            for view in model.views(space.quasi, space.table.sensitive):
                failing |= model.failing(Evidence(classes, view.column, gatherer.hierarchies, gatherer.population))
        return failing

    def _classes(self, rows: Rows, persons: Ints, of_row: NDArray[np.uint32], number: int) -> Classes:
        sizes = np.bincount(of_row, persons, number).astype(np.int64)
        histograms = {}
        for column in self._shown.sensitive:
            codes = self._shown.codes[column.name][rows]
            groups = group(of_row.astype(np.uint64) * np.uint64(column.size) + codes, number * column.size)
            class_sizes = np.bincount(groups.ids, persons, len(groups)).astype(np.int64)
            reference = self._shown.reference[column.name]
            at = groups.first
            histograms[column.name] = Histogram.of(
                column, of_row[at], codes[at].astype(np.uint32), class_sizes, number, reference
            )
        return self._plain.base.instead(sizes, histograms)

    @cached_property
    def units(self) -> Units:
        """The rows of the jury as units: records with equal values stay together."""
        rows = self._table.distinct(self._goal.space.quasi)
        return Units(rows, self._plain.of_shown, np.arange(len(self)), self.persons)

    @cached_property
    def records(self) -> Units:
        """Single records as units: records with equal values may be separated."""
        table, space = self._table, self._goal.space
        if table.subject is not None:
            raise ModelError(
                "several-records",
                "Records with equal quasi-identifiers can be separated only if each belongs to another individual.",
                remedy=either(Setting("search.strict", True), "omit the subject if every individual has one record"),
            )
        if not isinstance(table.engine, MemoryEngine):
            raise ModelError(
                "memory-only",
                "Records with equal quasi-identifiers can be separated only in memory.",
                remedy=either(Setting("search.strict", True), Option("engine", "memory")),
            )
        seen = (*space.quasi, *(column.name for column in self._shown.sensitive))
        distinct = table.distinct(seen)
        visible = showing(distinct, [table[name] for name in space.quasi])
        judged = np.where(visible, np.cumsum(visible) - 1, -1)
        of_record = table.engine.expand(distinct, judged)
        shown, number = np.flatnonzero(of_record >= 0), table.records
        codes = tuple(table.codes(name) for name in space.quasi)
        rows = DistinctRows(space.quasi, codes, np.ones(number, np.int64), np.arange(number))
        return Units(rows, shown, of_record[shown], np.ones(len(shown), np.int64))

    @property
    def _table(self) -> Table:
        return self._goal.space.table


def _check(goal: Goal) -> None:
    """Refuse goals that cannot be evaluated class by class, and state the reason."""
    table = [model.name for model in goal.models if model.scope is Scope.TABLE or Need.SUBSETS in model.needs]
    if goal.tables or table:
        name = goal.tables[0].name if goal.tables else table[0]
        raise ModelError(
            "requirement-of-technique",
            "The requirement {model} concerns the whole table, and this technique judges each class by itself.",
            remedy=_whole(),
            model=name,
        )
    if goal.registered:
        raise ModelError(
            "requirement-of-technique",
            "The requirement {model} requires a register of the population, which can be compared with schemes only.",
            remedy=_whole(),
            model=goal.registered[0].name,
        )
    missing = [name for name in goal.space.quasi if goal.space.table[name].missing]
    if goal.gatherer.missing is not Missing.OWN and missing:
        raise ModelError(
            "missing-of-technique",
            "Column '{column}' has missing values that match nothing. This technique cannot divide such classes.",
            remedy=either(Setting("data.missing", "own"), _whole()),
            column=missing[0],
        )
    if goal.evidence.classes.overlap:
        raise ModelError(
            "several-records",
            "Some individuals have several records with different values. This technique cannot handle these yet.",
            remedy=either(_whole(), "reduce the table to one record per individual"),
        )
    if not isinstance(goal.quality, LevelQuality | FigureQuality):
        raise ModelError(
            "quality-of-technique",
            "The quality {quality} is measured on whole schemes, and this technique judges each class by itself.",
            remedy=either(_whole(), Setting("search.quality", "loss")),
            quality=goal.quality.name,
        )
    if not goal.by_class:
        raise ModelError(
            "requirement-of-technique",
            "These requirements are judged on whole schemes, and this technique judges each class by itself.",
            remedy=_whole(),
        )


def _whole() -> Setting:
    """Return the setting for the technique that evaluates whole schemes."""
    return Setting("search.recoding", giving(Gives.SCHEME)[0].called())
