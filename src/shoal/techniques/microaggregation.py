"""Microaggregation: each record is grouped with its nearest neighbours, and the group is a class."""

from collections.abc import Mapping
from math import ceil
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.errors import ModelError
from shoal.kernels.microaggregation import Coordinates, Labels
from shoal.progress import Hook, silent
from shoal.search.goal import Goal
from shoal.search.objective import Ints
from shoal.table.scale import scale
from shoal.techniques.axis import axes, trees
from shoal.techniques.jury import Jury
from shoal.techniques.merging import merged
from shoal.techniques.near_groups import near_groups
from shoal.techniques.person_cutting import PersonCutting
from shoal.techniques.places import places
from shoal.techniques.ranges import ranges_of
from shoal.techniques.refinement import within_limit
from shoal.techniques.spread_groups import spread_groups
from shoal.techniques.squares import sum_of_squares
from shoal.techniques.technique import TECHNIQUES, Allows, Technique
from shoal.techniques.treatment import Treatment
from shoal.techniques.units import Units
from shoal.words import share

_STEP, _LARGEST = 1.2, 8  # how group sizes grow until spread groups pass, and up to which multiple of k


@TECHNIQUES.register("microaggregation")
class Microaggregation(Technique):
    """Group each record with its nearest neighbours.

    Groups have as few individuals as required, and a small sum of squared distances from their centres. They are merged
    with neighbouring groups until they meet all other requirements. With ``show = "mean"`` a column shows the centre of
    each group, otherwise the set of values that covers it.
    """

    kind: Literal["microaggregation"] = "microaggregation"
    method: Literal["mdav", "v-mdav", "k-member"] | None = Field(
        default=None,
        title="Grouping method",
        description="how groups are formed: around the farthest record and its opposite (mdav), also with groups of "
        "variable size (v-mdav), or record by record (k-member); by default the best of them in small tables, and "
        "mdav in large ones; one column is grouped optimally",
    )
    exchange: bool = Field(
        default=True,
        title="Exchange records",
        description="whether records are exchanged between neighbouring groups as long as that reduces the distances",
    )
    intervals: Literal["values", "hierarchy"] = Field(
        default="values",
        title="Intervals of numbers",
        description="whether numbers are shown as the interval from the lowest to the highest value of a group, which "
        "discloses these two, or as a node of their hierarchy",
    )
    spread: str | None = Field(
        default=None,
        title="Spread a sensitive column",
        description="sensitive column whose values are spread evenly over each group, for t-closeness with the ordered "
        "distance; groups are then formed from records with low, medium and high values",
    )
    says: ClassVar[str] = "Each record is grouped with its nearest neighbours (microaggregation)."
    iso: ClassVar[str] = "microaggregation"
    minds_quality: ClassVar[bool] = False
    allows: ClassVar[frozenset[Allows]] = frozenset({Allows.OUTLIERS, Allows.LEVELS, Allows.SEVERAL})

    @property
    def notes(self) -> tuple[str, ...]:
        """A note that the bounds of intervals are exact values, unless intervals are those of hierarchies."""
        if self.intervals == "hierarchy":
            return ()
        return ("Where numbers are shown as intervals, their bounds are exact values of class members.",)

    def account(self, facts: Mapping[str, Any]) -> str:
        """Return the share of the squared distances that remains within groups."""
        if "within" not in facts:
            return ""
        return f"{share(facts['within'])} of the sum of squared distances remains within groups."

    def treat(self, goal: Goal, progress: Hook = silent) -> Treatment:
        """Group units by their places, merge failing groups, and show each group as a range."""
        jury = Jury(goal)
        self._check_spread(goal, jury)
        units = jury.units if self.spread is None else jury.records
        codes = [of_row[units.judged] for of_row in jury.codes]
        chosen = axes(goal.space, goal.bounds, free=self.intervals == "values")
        points = places([axis.domain for axis in chosen], codes, units.persons, goal.weighing(goal.space.names))
        if units.holders is not None:
            return within_limit(goal, self._of_persons(goal, jury, points, progress), progress)
        labels = (self._near if self.spread is None else self._spread)(points, units, jury, progress)
        labels, failing = merged(jury, units, points, labels)
        treatment = ranges_of(units, chosen, codes, labels, failing[labels])
        within = _within(points, units.persons, labels)
        return within_limit(goal, treatment.with_figures(within=within), progress)

    @property
    def reads_values(self) -> bool:
        """Whether groups are formed from the values of a sensitive column."""
        return self.spread is not None

    def _check_spread(self, goal: Goal, jury: Jury) -> None:
        """Refuse to spread a column that is not sensitive, or no requirement reads, or of several records."""
        table = goal.space.table
        if self.spread is None:
            return
        if self.spread not in table.sensitive:
            raise ModelError(
                "spread-not-sensitive",
                "The option spread names column '{column}', which is not a sensitive column of the table.",
                remedy="Name a sensitive column, or remove the option spread.",
                column=self.spread,
            )
        if self.spread not in jury.sensitive:
            raise ModelError(
                "spread-not-required",
                "The values of '{column}' need not be spread over groups, because no requirement concerns them.",
                remedy="Require t-closeness of the column, or remove the option spread.",
                column=self.spread,
            )
        if table.subject is not None:
            raise ModelError(
                "several-records",
                "The values of '{column}' can be spread over groups only if the policy names no subject, so that each "
                "record belongs to another individual.",
                remedy="Omit the subject if every individual has one record, or remove the option spread.",
                column=self.spread,
            )

    def _near(self, points: Coordinates, units: Units, jury: Jury, progress: Hook) -> Labels:
        """Return groups of near units; units with the same quasi-identifiers are in the same group."""
        _, first, of_unit = np.unique(units.of_row, return_index=True, return_inverse=True)
        persons = np.bincount(of_unit, units.persons).astype(np.int64)
        return self._groups(points[first], persons, jury.least, progress)[of_unit]

    def _groups(self, points: Coordinates, persons: Ints, k: int, progress: Hook) -> Labels:
        if int(persons.sum()) < 2 * k or not points.shape[1]:
            return np.zeros(len(points), np.uint32)
        return near_groups(points, persons.astype(np.uint32), k, self.method, progress, refine=self.exchange)

    def _of_persons(self, goal: Goal, jury: Jury, points: Coordinates, progress: Hook) -> Treatment:
        """Group individuals with several records by the mean of their records' places."""
        cutting = PersonCutting(goal, jury, trees(goal.space), progress)
        counts = np.bincount(cutting.holders)
        means = np.zeros((len(counts), points.shape[1]))
        for place, column in enumerate(points.T):
            means[:, place] = np.bincount(cutting.holders, column) / counts
        groups = self._groups(means, np.ones(len(counts), np.int64), jury.least, progress)
        return cutting.of_groups(groups[cutting.holders])

    def _spread(self, points: Coordinates, units: Units, jury: Jury, progress: Hook) -> Labels:
        """Return groups over which the values of a sensitive column are spread: the smallest that pass.

        Larger groups are tried if some fail, up to a size; failing groups of that size are merged later.
        """
        column, codes = jury.values(str(self.spread))
        order = scale(column)
        values = (np.arange(column.size, dtype=float) if order is None else order)[codes[units.judged]]
        size, everyone = max(jury.least, 2), np.arange(len(units))
        while True:
            labels = spread_groups(points, units.persons.astype(np.uint32), values, size, progress)
            fails = jury.failing(units, everyone, labels, int(labels.max()) + 1)
            if not fails.any() or size >= _LARGEST * jury.least:
                return labels
            size = ceil(size * _STEP)


def _within(points: Coordinates, persons: Ints, labels: Labels) -> float:
    """Return the sum of squares within groups as a share of that of all points."""
    total = sum_of_squares(points, persons, np.zeros(len(points), np.uint32))
    return sum_of_squares(points, persons, labels) / total if total > 0 else 0.0
