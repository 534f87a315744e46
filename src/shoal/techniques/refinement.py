"""Refinement: generalisation is undone, cell by cell, as long as all models hold."""

import numpy as np

from shoal.kernels.grouping import group_rows
from shoal.progress import Hook, silent
from shoal.search.goal import Goal
from shoal.techniques.axis import axes
from shoal.techniques.cutting import Cutting
from shoal.techniques.full_domain import best_scheme
from shoal.techniques.jury import Jury
from shoal.techniques.treatment import Treatment


def refined(goal: Goal, treatment: Treatment, progress: Hook = silent) -> Treatment:
    """Cut the classes of a treatment further, along the hierarchies; who is suppressed stays so.

    The records of a class first show no more than they need; then it is cut as in Mondrian, begun with this class.
    """
    jury = Jury(goal)
    units = jury.units
    cutting = Cutting(goal, jury, units, axes(goal.space, goal.bounds, free=False), progress)
    keys = [change.shown[units.of_row].astype(np.uint32) for change in treatment.generalised]
    groups = group_rows(keys, [len(change.nodes) for change in treatment.generalised], len(units))
    return cutting.run(groups.ids, treatment.suppressed[units.of_row])


def within_limit(goal: Goal, treatment: Treatment, progress: Hook = silent) -> Treatment:
    """Return a treatment, or another one if it leaves out more persons than may be: a refinement of the best scheme.

    What a recoding leaves as coarse as can be shows nothing and counts as left out. A scheme for all records need not
    leave out anybody. Where even its refinement leaves out too many, it stays as it is.
    """
    if treatment.persons <= goal.limit:
        return treatment
    scheme = best_scheme(goal, progress)
    finer = refined(goal, scheme, progress)
    return finer if finer.persons <= goal.limit else scheme
