"""Mondrian: everybody is in one part at first, which is cut as long as that goes (LeFevre et al. 2006)."""

import numpy as np

from shoal.progress import Hook, silent
from shoal.search.goal import Goal
from shoal.treatments.axis import axes
from shoal.treatments.cutting import Cutting
from shoal.treatments.jury import Jury
from shoal.treatments.refinement import within_limit
from shoal.treatments.settings import Settings
from shoal.treatments.treatment import TREATMENTS, Treatment


@TREATMENTS.register("mondrian")
def mondrian(goal: Goal, how: Settings, progress: Hook = silent) -> Treatment:
    """Cut at medians: numbers anywhere, unless ``cuts`` says where their hierarchy does; all else between nodes.

    Unless ``strict``, a part that cannot be cut between values is cut through one: records that have it are divided.
    """
    jury = Jury(goal)
    units = jury.units if how.strict else jury.records
    chosen = axes(goal.space, goal.bounds, free=how.cuts == "anywhere")
    cutting = Cutting(goal, jury, units, chosen, progress, strict=how.strict)
    classes = cutting.run(cutting.coarsest(), np.zeros(len(units), bool))
    return within_limit(goal, classes, how, progress)
