"""Cell suppression of outliers: single values are suppressed instead of whole records."""

from collections.abc import Mapping
from itertools import product
from typing import Any, ClassVar

import numpy as np

from shoal.errors import ModelError
from shoal.progress import Hook
from shoal.remedy import Setting, either
from shoal.search.goal import Goal
from shoal.techniques.iterative import Iteration
from shoal.techniques.jury import Jury
from shoal.techniques.outliers import OUTLIERS, Outliers, usual_way
from shoal.techniques.treatment import Treatment
from shoal.words import counted

_MOST_COLUMNS = 16


class CellsLost(Outliers):
    """Single values of outliers are suppressed."""

    brief: ClassVar[str] = "some of their values are suppressed"
    done: ClassVar[str] = "local suppression of outliers"
    counts: ClassVar[Mapping[str, str]] = {"cells": "suppressed cells"}
    needs_scheme: ClassVar[bool] = True

    def told(self, facts: Mapping[str, Any]) -> str:
        """Return a sentence with the number of suppressed cells."""
        if not facts["records"]:
            return "Outliers are suppressed, because suppressing only some of their cells forms no class."
        records = counted(facts["records"], "record")
        return f"{counted(facts['cells'], 'cell')} suppressed in {records} of outliers."

    def deal(self, goal: Goal, treatment: Treatment, progress: Hook) -> Treatment:
        """Suppress as few cells of outliers as needed to form classes; suppress outliers that still fit into none."""
        jury, space, objective = Jury(goal), goal.space, goal.by_levels
        if objective is None or len(space.names) > _MOST_COLUMNS:
            raise ModelError(
                "cells-of-columns",
                "Cells can be chosen for at most {most} quasi-identifiers, with measures of single columns.",
                remedy=either(Setting("search.outliers", usual_way()), Setting("search.quality", "loss")),
                most=_MOST_COLUMNS,
            )
        levels = np.array(
            [treatment.scheme[name] - ladder.low for name, ladder in zip(space.names, space.ladders, strict=True)]
        )
        choices = [sorted({int(level), size - 1}) for level, size in zip(levels, space.shape, strict=True)]
        iteration = Iteration(goal, jury, objective, progress, levels, treatment.suppressed[jury.single_units.of_row])
        iteration.keep(np.array(list(product(*choices))))
        treated = iteration.treatment()
        rescued = treatment.suppressed & ~treated.suppressed
        cells = sum(
            int(treatment.rows.counts[rescued & (level != treatment.scheme[name])].sum())
            for name, level in ((change.name, change.levels) for change in treated.generalised)
            if level is not None
        )
        return treated.with_outliers(treatment.facts, cells=cells, records=int(treatment.rows.counts[rescued].sum()))


OUTLIERS.register("cells")(CellsLost())
