"""Outliers that lose single values instead of being left out."""

from itertools import product

import numpy as np

from shoal.errors import ModelError
from shoal.progress import Hook
from shoal.search.goal import Goal
from shoal.treatments.iterative import Iteration
from shoal.treatments.jury import Jury
from shoal.treatments.outliers import OUTLIERS
from shoal.treatments.settings import Settings
from shoal.treatments.treatment import Treatment

_MOST_COLUMNS = 16


@OUTLIERS.register("cells")
def suppress_cells(goal: Goal, treatment: Treatment, how: Settings, progress: Hook) -> Treatment:  # noqa: ARG001 - as others
    """Suppress as few cells of outliers as make classes of them; those who still find none are left out."""
    jury, space, objective = Jury(goal), goal.space, goal.by_levels
    if objective is None or len(space.names) > _MOST_COLUMNS:
        raise ModelError(
            f"Cells can be chosen for at most {_MOST_COLUMNS} quasi-identifiers, and by a measure of single columns.",
            hint='Use outliers = "suppress", or a quality such as "loss" or "nue".',
        )
    levels = np.array(
        [treatment.scheme[name] - ladder.low for name, ladder in zip(space.names, space.ladders, strict=True)]
    )
    choices = [sorted({int(level), size - 1}) for level, size in zip(levels, space.shape, strict=True)]
    iteration = Iteration(goal, jury, objective, progress, levels, treatment.suppressed[jury.units.of_row])
    iteration.keep(np.array(list(product(*choices))))
    treated = iteration.treatment()
    rescued = treatment.suppressed & ~treated.suppressed
    cells = sum(
        int(treatment.rows.counts[rescued & (level != treatment.scheme[name])].sum())
        for name, level in zip(space.names, treated.levels, strict=True)
        if level is not None
    )
    return treated.with_facts(treatment.facts, cells=cells, records=int(treatment.rows.counts[rescued].sum()))
