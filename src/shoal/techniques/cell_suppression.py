"""Cell suppression: as few and as unimportant values as possible are suppressed."""

from dataclasses import replace
from typing import ClassVar, Literal

from shoal.progress import Hook, silent
from shoal.search.goal import Goal
from shoal.search.space import Space
from shoal.techniques.iterative import scheme_by_scheme
from shoal.techniques.technique import TECHNIQUES, Allows, Technique
from shoal.techniques.treatment import Treatment


@TECHNIQUES.register("suppression")
class CellSuppression(Technique):
    """Suppress single values in classes that are too small.

    Patterns of suppressed columns are tried in order of cost, cheapest first; weights express the importance of
    columns. A record is released under the first pattern with which it forms a class that meets the requirements,
    together with records that no cheaper pattern has taken. A suppressed value matches only other suppressed values, so
    an adversary gains nothing by guessing it.
    """

    kind: Literal["suppression"] = "suppression"
    says: ClassVar[str] = "Single values are suppressed until every class meets the requirements (local suppression)."
    iso: ClassVar[str] = "local suppression of single values"
    allows: ClassVar[frozenset[Allows]] = frozenset({Allows.REFINE, Allows.OUTLIERS, Allows.SEVERAL})

    def treat(self, goal: Goal, progress: Hook = silent) -> Treatment:
        """Try schemes with two levels per column: the value itself, or suppression."""
        table, quasi = goal.space.table, goal.space.quasi
        ladders = {ladder.hierarchy.column: ladder.hierarchy for ladder in goal.space.ladders}
        hierarchies = {
            name: replace(hierarchy, levels=(hierarchy.levels[0], hierarchy.levels[-1]))
            for name, hierarchy in ladders.items()
        }
        return scheme_by_scheme(replace(goal, space=Space.of(table, quasi, hierarchies)), progress)
