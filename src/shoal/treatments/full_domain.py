"""Full-domain recoding: every record is made coarser alike, by the best scheme of all."""

import numpy as np

from shoal.progress import Hook, silent
from shoal.search.goal import Goal
from shoal.treatments.settings import Settings
from shoal.treatments.treatment import TREATMENTS, Treatment


@TREATMENTS.register("global")
def full_domain(goal: Goal, how: Settings, progress: Hook = silent) -> Treatment:
    """Find the optimum; if no scheme will do, everybody is suppressed."""
    outcome, space = goal.optimum(progress, seconds=how.seconds), goal.space
    rows = space.table.distinct(space.quasi)
    facts: dict[str, float] = {"evaluated": outcome.evaluated, "schemes": outcome.schemes}
    if outcome.best is None:
        top = space.scheme(len(space) - 1)
        hidden = np.ones(len(rows), bool)
        return Treatment.of_scheme(space, rows, top, hidden, goal.evidence.classes.persons, facts)
    judged, scheme = goal.plain.judged(outcome.best.scheme), space.scheme(outcome.best.scheme)
    facts |= {"price": outcome.best.price, "gap": outcome.gap}
    return Treatment.of_scheme(space, rows, scheme, judged.suppressed, judged.persons, facts)
