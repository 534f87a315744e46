"""Refinement: generalisation is reduced class by class as long as all models hold."""

import numpy as np

from shoal.kernels.grouping import group_rows
from shoal.progress import Hook, silent
from shoal.search.goal import Goal
from shoal.techniques.axis import axes, trees
from shoal.techniques.cutting import Cutting
from shoal.techniques.full_domain import best_scheme
from shoal.techniques.jury import Jury
from shoal.techniques.person_cutting import PersonCutting
from shoal.techniques.treatment import Treatment


def refined(goal: Goal, treatment: Treatment, progress: Hook = silent) -> Treatment:
    """Cut the classes of a treatment further along the hierarchies; suppressed records stay suppressed.

    The records of a class are first generalised only as far as the class requires. The class is then cut as in
    Mondrian, with the class as the initial part.
    """
    jury = Jury(goal)
    units = jury.units
    if units.holders is not None:
        return PersonCutting(goal, jury, trees(goal.space), progress).finer(treatment)
    cutting = Cutting(goal, jury, units, axes(goal.space, goal.bounds, free=False), progress)
    keys = [change.shown[units.of_row].astype(np.uint32) for change in treatment.generalised]
    groups = group_rows(keys, [len(change.nodes) for change in treatment.generalised], len(units))
    return cutting.run(groups.ids, treatment.suppressed[units.of_row])


def refined_scheme(goal: Goal, progress: Hook = silent) -> Treatment:
    """Return the best scheme, refined; unrefined if the refinement exceeds the suppression limit or costs more.

    The refinement suppresses all records of an individual, a scheme single records: so the scheme may cost less.
    """
    scheme = best_scheme(goal, progress)
    return cheapest(goal, refined(goal, scheme, progress), scheme) or scheme


def better_than_scheme(goal: Goal, treatment: Treatment, progress: Hook = silent) -> Treatment:
    """Return a treatment, or the refinement of the best scheme if that costs less: never worse than global recoding."""
    finer = refined_scheme(goal, progress)
    return cheapest(goal, treatment, finer) or finer


def cheapest(goal: Goal, *treatments: Treatment) -> Treatment | None:
    """Return the first of the treatments with the lowest cost within the suppression limit; None if there is none."""
    allowed = [each for each in treatments if each.persons <= goal.limit]
    return min(allowed, key=lambda each: goal.cost(each.recoding()), default=None)


def within_limit(goal: Goal, treatment: Treatment, progress: Hook = silent) -> Treatment:
    """Return a treatment, or a refinement of the best scheme if the treatment exceeds the suppression limit.

    ``exceeded`` in its facts is then the number of individuals that the treatment would suppress. Records that a
    recoding generalises completely show nothing and count as suppressed. A scheme for all records need
    not suppress any.
    """
    if treatment.persons <= goal.limit or not goal.space.is_countable:
        return treatment
    return refined_scheme(goal, progress).with_figures(exceeded=treatment.persons)
