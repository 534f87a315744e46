"""Full-domain recoding: all records are generalised to the same levels, by the best of all schemes."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from shoal.progress import Hook, silent
from shoal.search.goal import Goal
from shoal.techniques.technique import TECHNIQUES, Allows, Gives, Technique
from shoal.techniques.treatment import Treatment
from shoal.words import counted


@TECHNIQUES.register("global")
class FullDomain(Technique):
    """Generalise all records to the same levels, by the best of all schemes."""

    kind: Literal["global"] = "global"
    says: ClassVar[str] = (
        "All records are generalised to the same levels (global recoding), by the best of all schemes."
    )
    iso: ClassVar[str] = "generalisation (global recoding)"
    gives: ClassVar[frozenset[Gives]] = frozenset({Gives.CLASSES, Gives.SCHEME})
    allows: ClassVar[frozenset[Allows]] = frozenset(Allows)
    is_usual: ClassVar[bool] = True

    def treat(self, goal: Goal, progress: Hook = silent) -> Treatment:
        """Apply the optimal scheme."""
        return best_scheme(goal, progress)

    def account(self, facts: Mapping[str, Any]) -> str:
        """Return a sentence on how the scheme compares with all others.

        >>> FullDomain().account({"schemes": 1200, "gap": 0})
        'Optimum of 1,200 generalisation schemes.'
        """
        if "gap" not in facts:
            return ""
        schemes, gap = counted(facts["schemes"], "generalisation scheme"), float(facts["gap"])
        if gap == 1:
            return f"Best scheme found in time among {schemes}; another may cost less."
        return f"Optimum of {schemes}." if not gap else f"None of {schemes} costs less by more than {gap:.2%}."


def best_scheme(goal: Goal, progress: Hook = silent) -> Treatment:
    """Generalise all records to the levels of the optimum; suppress them if no scheme meets the requirements."""
    outcome, space = goal.optimum(progress), goal.space
    rows = space.table.distinct(space.quasi)
    facts: dict[str, float] = {"evaluated": outcome.evaluated, "schemes": outcome.schemes}
    if outcome.best is None:
        top = space.scheme(len(space) - 1)
        hidden = np.ones(len(rows), bool)
        return Treatment.of_scheme(space, rows, top, hidden, goal.evidence.classes.persons, facts)
    judged, scheme = goal.plain.judged(outcome.best.scheme), space.scheme(outcome.best.scheme)
    facts |= {"price": outcome.best.price, "gap": outcome.gap}
    return Treatment.of_scheme(space, rows, scheme, judged.suppressed, judged.persons, facts)
