"""The jury of a local recoding: it decides which groups of rows, however formed, meet the requirements as classes."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.classes.classes import Classes
from shoal.classes.histogram import Histogram
from shoal.classes.shown import showing
from shoal.engines.memory import MemoryEngine
from shoal.engines.protocol import DistinctRows
from shoal.errors import ColumnError, ModelError
from shoal.kernels.grouping import changes, group
from shoal.kernels.tallying import RowPlaces
from shoal.kernels.translation import Codes
from shoal.models.evidence import Evidence
from shoal.models.model import Need, Scope
from shoal.qualities.quality import FigureQuality, LevelQuality
from shoal.remedy import Option, Setting, either
from shoal.search.goal import Goal
from shoal.search.objective import Ints
from shoal.table.column import Column
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

    def failing(self, units: Units, chosen: Rows, of_group: NDArray[np.uint32], number: int) -> Mask:
        """Return which groups fail: those that are too small, and those whose sensitive values violate a model.

        The chosen unit ``chosen[i]`` belongs to the group ``of_group[i]``.
        """
        failing = units.sizes(chosen, of_group, number) < self._goal.size
        if failing.all() or self.by_size:
            return failing
        place = np.cumsum(~failing) - 1
        inside = ~failing[of_group]
        groups = place[of_group[inside]].astype(np.uint32)
        failing[~failing] = self._judged(units, chosen[inside], groups, int((~failing).sum()))
        return failing

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns that requirements read."""
        return tuple(column.name for column in self._shown.sensitive)

    def values(self, name: str) -> tuple[Column, Codes]:
        """Return a sensitive column, and its code for each row of the jury."""
        columns = {column.name: column for column in self._shown.sensitive}
        if name not in columns:
            raise ColumnError.unknown(name, columns)
        return columns[name], self._shown.codes[name]

    @property
    def least(self) -> int:
        """The minimum number of persons of a class."""
        return self._goal.size

    @cached_property
    def by_size(self) -> bool:
        """Whether the requirements concern class sizes only."""
        return all(model.enough(self._goal.evidence) is not None for model in self._goal.models)

    def _judged(self, units: Units, chosen: Rows, of_group: NDArray[np.uint32], number: int) -> Mask:
        """Evaluate every model on some classes, given by their units; return which classes fail."""
        classes, failing = self._classes(units, chosen, of_group, number), np.zeros(number, bool)
        gatherer, space = self._goal.gatherer, self._goal.space
        for model in self._goal.models:
            for view in model.views(space.quasi, space.table.sensitive):
                failing |= model.failing(Evidence(classes, view.column, gatherer.hierarchies, gatherer.population))
        return failing

    def _classes(self, units: Units, chosen: Rows, of_group: NDArray[np.uint32], number: int) -> Classes:
        histograms = {}
        for column in self._shown.sensitive:
            codes = self._shown.codes[column.name][units.judged[chosen]]
            groups = group(of_group.astype(np.uint64) * np.uint64(column.size) + codes, number * column.size)
            persons = units.sizes(chosen, groups.ids, len(groups))
            reference = self._shown.reference[column.name]
            at = groups.first
            histograms[column.name] = Histogram.of(
                column, of_group[at], codes[at].astype(np.uint32), persons, number, reference
            )
        return self._plain.base.instead(units.sizes(chosen, of_group, number), histograms)

    @cached_property
    def units(self) -> Units:
        """The rows of the jury as units: records with equal values stay together, unless persons have several rows."""
        if self._plain.base.overlap:
            return self._rows_of_persons
        rows = self._table.distinct(self._goal.space.quasi)
        return Units(rows, self._plain.of_shown, np.arange(len(self)), self.persons)

    @property
    def single_units(self) -> Units:
        """The units of persons with one row each; an error if a person has several."""
        if self._plain.base.overlap:
            raise ModelError(
                "several-records",
                "Some individuals have several records with different values. Their outliers can only be suppressed.",
                remedy=Setting("search.outliers", "suppress"),
            )
        return self.units

    @property
    def _rows_of_persons(self) -> Units:
        """The distinct rows of each person as units, so that all rows of a person can be released alike."""
        table, quasi, seen = self._table, self._goal.space.quasi, self._shown.counted
        subject = str(table.subject)
        rows, every = table.distinct((*quasi, subject)), table.distinct((*seen, subject))
        visible = showing(every, self._shown.quasi)
        new = changes(every.codes[: len(seen)], len(every))
        new[:1] = True
        judged = np.cumsum(new & visible)[visible] - 1
        places = RowPlaces([*(table[name].size for name in quasi), table[subject].size])
        places.of(rows.codes)
        of_row = places.of([*every.codes[: len(quasi)], every.codes[-1]])[visible].astype(np.intp)
        holders = every.codes[-1][visible].astype(np.int64)
        return Units(rows, of_row, judged.astype(np.intp), np.ones(len(holders), np.int64), holders)

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
    if not isinstance(goal.quality, LevelQuality | FigureQuality):
        raise ModelError(
            "quality-of-technique",
            "The quality {quality} is measured on whole schemes, and this technique judges each class by itself.",
            remedy=either(_whole(), Setting("search.quality", "loss")),
            quality=goal.quality.name,
        )
    if not goal.judges_classes:
        raise ModelError(
            "requirement-of-technique",
            "These requirements are judged on whole schemes, and this technique judges each class by itself.",
            remedy=_whole(),
        )


def _whole() -> Setting:
    """Return the setting for the technique that evaluates whole schemes."""
    return Setting("search.recoding", giving(Gives.SCHEME)[0].called())
