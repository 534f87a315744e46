"""Counterfeits: artificial records that are added to classes that are too small (Lee et al. 2017)."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from shoal.errors import ModelError
from shoal.kernels.grouping import group_rows
from shoal.progress import Hook
from shoal.search.goal import Goal
from shoal.techniques.change import Added
from shoal.techniques.jury import Jury
from shoal.techniques.outliers import OUTLIERS, Outliers
from shoal.techniques.technique import Truth
from shoal.techniques.treatment import Treatment
from shoal.words import counted


class Counterfeited(Outliers):
    """Outliers are kept, and counterfeit records are added to their classes."""

    brief: ClassVar[str] = "counterfeit records are added to their classes"
    done: ClassVar[str] = "counterfeit records are added to small classes"
    truth: ClassVar[Truth] = Truth.INVENTED
    was: ClassVar[str] = "Some records are counterfeits."
    may_be: ClassVar[str] = "Some records may be counterfeits."
    counts: ClassVar[Mapping[str, str]] = {"counterfeits": "counterfeit records"}
    needs_scheme: ClassVar[bool] = True
    adds_records: ClassVar[bool] = True

    def told(self, facts: Mapping[str, Any]) -> str:
        """Return a sentence with the number of counterfeit records."""
        return f"{counted(facts['counterfeits'], 'record')} added as counterfeits to fill small classes."

    def deal(self, goal: Goal, treatment: Treatment, progress: Hook) -> Treatment:  # noqa: ARG002 - interface
        """Keep outliers, and add as many counterfeit records as their classes lack for the required size."""
        jury = Jury(goal)
        if not jury.by_size:
            raise ModelError(
                "counterfeits-of-requirement",
                "Counterfeits increase class sizes. Requirements on sensitive values cannot rely on them.",
                remedy="Use counterfeits with requirements on class sizes only, such as k-anonymity.",
            )
        units, rows = jury.single_units, treatment.rows
        hidden = np.ones(len(rows), bool)
        hidden[units.of_row] = False  # rows without any value in the original stay suppressed
        everybody = Treatment.of_scheme(goal.space, rows, treatment.scheme, hidden, 0, treatment.facts)
        outliers = np.flatnonzero(treatment.suppressed & ~hidden)
        keys = [change.shown[outliers].astype(np.uint32) for change in everybody.generalised]
        classes = group_rows(keys, [len(change.nodes) for change in everybody.generalised], len(outliers))
        persons = np.bincount(units.of_row, units.persons, len(rows)).astype(np.int64)
        lacking = jury.least - np.bincount(classes.ids, persons[outliers], len(classes)).astype(np.int64)
        invented = np.repeat(outliers[classes.first], lacking)
        return everybody.changed(Added(invented)).with_outliers(
            treatment.facts, counterfeits=len(invented), records=int(rows.counts[outliers].sum())
        )


OUTLIERS.register("counterfeits")(Counterfeited())
