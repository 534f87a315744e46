"""Cell suppression: single values are left out, as few and as unimportant ones as will do."""

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

    Patterns of suppressed columns are tried, the cheapest first; weights say how important columns are. A record keeps
    its values where, under a pattern, it forms a passing class with others that no cheaper pattern took. What is
    suppressed matches only what is suppressed, too: nobody gains from a guess.
    """

    kind: Literal["suppression"] = "suppression"
    says: ClassVar[str] = "Single values are suppressed until every class meets the requirements (local suppression)."
    iso: ClassVar[str] = "local suppression of single values"
    allows: ClassVar[frozenset[Allows]] = frozenset({Allows.REFINE, Allows.OUTLIERS})

    def treat(self, goal: Goal, progress: Hook = silent) -> Treatment:
        """Try schemes with two levels for each column: the value, or nothing."""
        table, quasi = goal.space.table, goal.space.quasi
        ladders = {ladder.hierarchy.column: ladder.hierarchy for ladder in goal.space.ladders}
        hierarchies = {
            name: replace(hierarchy, levels=(hierarchy.levels[0], hierarchy.levels[-1]))
            for name, hierarchy in ladders.items()
        }
        return scheme_by_scheme(replace(goal, space=Space.of(table, quasi, hierarchies)), progress)
