"""Counterfeits: invented records beside those that look like too few others (Lee et al. 2017)."""

from dataclasses import replace

import numpy as np

from shoal.errors import ModelError
from shoal.kernels.grouping import group_rows
from shoal.progress import Hook
from shoal.search.goal import Goal
from shoal.treatments.jury import Jury
from shoal.treatments.outliers import OUTLIERS
from shoal.treatments.settings import Settings
from shoal.treatments.treatment import Treatment


@OUTLIERS.register("counterfeits")
def counterfeit(goal: Goal, treatment: Treatment, how: Settings, progress: Hook) -> Treatment:  # noqa: ARG001 - as others
    """Keep outliers, and invent as many records that look like them as their classes lack."""
    jury = Jury(goal)
    if not jury.by_size:
        raise ModelError(
            "Counterfeits make classes larger; whether their sensitive values fit requirements is left to chance.",
            hint='Use outliers = "counterfeits" with requirements of size only, such as k-anonymity.',
        )
    units, rows = jury.units, treatment.rows
    hidden = np.ones(len(rows), bool)
    hidden[units.of_row] = False  # what shows nothing in the original stays left out
    everybody = Treatment.of_scheme(goal.space, rows, treatment.scheme, hidden, 0, treatment.facts)
    outliers = np.flatnonzero(treatment.suppressed & ~hidden)
    keys = [shown[outliers].astype(np.uint32) for shown in everybody.shown]
    classes = group_rows(keys, [len(nodes) for nodes in everybody.nodes], len(outliers))
    persons = np.bincount(units.of_row, units.persons, len(rows)).astype(np.int64)
    lacking = jury.least - np.bincount(classes.ids, persons[outliers], len(classes)).astype(np.int64)
    invented = np.repeat(outliers[classes.first], lacking)
    with_invented = replace(everybody, scheme={}, counterfeits=invented)
    return with_invented.with_facts(
        treatment.facts, counterfeits=len(invented), records=int(rows.counts[outliers].sum())
    )
