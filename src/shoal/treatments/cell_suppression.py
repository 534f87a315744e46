"""Cell suppression: single values are left out, as few and as unimportant ones as will do."""

from dataclasses import replace

from shoal.errors import PolicyError
from shoal.progress import Hook, silent
from shoal.search.goal import Goal
from shoal.search.space import Space
from shoal.treatments.iterative import iterative
from shoal.treatments.settings import Settings
from shoal.treatments.treatment import TREATMENTS, Treatment


@TREATMENTS.register("suppression")
def cell_suppression(goal: Goal, how: Settings, progress: Hook = silent) -> Treatment:
    """Try patterns of suppressed columns, the cheapest first; weights say how important columns are.

    A record keeps its values where, under a pattern, it forms a passing class with others that no cheaper pattern took.
    What is suppressed matches only what is suppressed, too: nobody gains from a guess.
    """
    if how.levels:
        raise PolicyError("Levels are given, but where single values are suppressed there are none between.")
    table, quasi = goal.space.table, goal.space.quasi
    ladders = {ladder.hierarchy.column: ladder.hierarchy for ladder in goal.space.ladders}
    hierarchies = {
        name: replace(hierarchy, levels=(hierarchy.levels[0], hierarchy.levels[-1]))
        for name, hierarchy in ladders.items()
    }
    return iterative(replace(goal, space=Space.of(table, quasi, hierarchies)), how, progress)
