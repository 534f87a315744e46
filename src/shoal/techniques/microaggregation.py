"""Microaggregation: each record is grouped with its nearest neighbours, and the group is a class."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.kernels.microaggregation import Coordinates, Labels
from shoal.progress import Hook, silent
from shoal.search.goal import Goal
from shoal.techniques.axis import axes, trees
from shoal.techniques.jury import Jury
from shoal.techniques.merging import merged
from shoal.techniques.near_groups import near_groups
from shoal.techniques.person_cutting import PersonCutting
from shoal.techniques.places import places
from shoal.techniques.ranges import ranges_of
from shoal.techniques.refinement import within_limit
from shoal.techniques.squares import sum_of_squares
from shoal.techniques.technique import TECHNIQUES, Allows, Technique
from shoal.techniques.treatment import Treatment
from shoal.techniques.units import Units
from shoal.words import share


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
        "k-member in large ones; one column is grouped optimally",
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
    says: ClassVar[str] = "Each record is grouped with its nearest neighbours (microaggregation)."
    iso: ClassVar[str] = "microaggregation"
    minds_quality: ClassVar[bool] = False
    any_number: ClassVar[bool] = False
    allows: ClassVar[frozenset[Allows]] = frozenset({Allows.OUTLIERS, Allows.SEVERAL})

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
        units, chosen = jury.units, axes(goal.space, goal.bounds, free=self.intervals == "values")
        codes = [of_row[units.judged] for of_row in jury.codes]
        points = places(
            [axis.domain for axis in trees(goal.space)], codes, units.persons, goal.weighing(goal.space.names)
        )
        if units.holders is not None:
            return within_limit(goal, self._of_persons(goal, jury, points, progress), progress)
        labels = self._groups(points, units, jury.least, progress)
        labels, failing = merged(jury, units, points, labels)
        treatment = ranges_of(units, chosen, codes, labels, failing[labels])
        within = _within(points, units.persons, labels)
        return within_limit(goal, treatment.with_figures(within=within), progress)

    def _groups(self, points: Coordinates, units: Units, k: int, progress: Hook) -> Labels:
        if int(units.persons.sum()) < 2 * k or not points.shape[1]:
            return np.zeros(len(units), np.uint32)
        persons = np.minimum(units.persons, np.iinfo(np.uint32).max).astype(np.uint32)
        return near_groups(points, persons, k, self.method, progress, refine=self.exchange)

    def _of_persons(self, goal: Goal, jury: Jury, points: Coordinates, progress: Hook) -> Treatment:
        """Group individuals with several records by the mean of their records' places."""
        cutting = PersonCutting(goal, jury, trees(goal.space), progress)
        holders = cutting.holders
        counts = np.bincount(holders)
        means = np.stack([np.bincount(holders, column) for column in points.T], axis=1) / counts[:, None]
        ones = Units(jury.units.rows, jury.units.of_row, jury.units.judged, np.ones(len(counts), np.int64))
        return cutting.of_groups(self._groups(means, ones, jury.least, progress)[holders])


def _within(points: Coordinates, persons: Any, labels: Labels) -> float:
    """Return the sum of squares within groups as a share of that of all points."""
    total = sum_of_squares(points, persons, np.zeros(len(points), np.uint32))
    return sum_of_squares(points, persons, labels) / total if total > 0 else 0.0
