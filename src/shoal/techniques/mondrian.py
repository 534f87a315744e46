"""Mondrian: all records form one part, which is cut recursively as far as possible (LeFevre et al. 2006)."""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.progress import Hook, silent
from shoal.search.goal import Goal
from shoal.techniques.axis import axes, trees
from shoal.techniques.cutting import Cutting
from shoal.techniques.jury import Jury
from shoal.techniques.person_cutting import PersonCutting
from shoal.techniques.refinement import within_limit
from shoal.techniques.technique import TECHNIQUES, Allows, Technique
from shoal.techniques.treatment import Treatment


@TECHNIQUES.register("mondrian")
class Mondrian(Technique):
    """Divide records recursively at medians.

    Numbers are cut at the bounds of their hierarchy, or ``anywhere``; all other values between the nodes of their
    hierarchy. Unless ``strict``, a part that cannot be cut between values is cut through one, so that records with the
    same value are divided.
    """

    kind: Literal["mondrian"] = "mondrian"
    strict: bool = Field(
        default=True,
        title="Strict cuts",
        description="whether records with the same value at a cut stay in the same class",
    )
    cuts: Literal["anywhere", "hierarchy"] = Field(
        default="hierarchy",
        title="Cuts of numbers",
        description="whether numbers are cut at the bounds of their hierarchy, or anywhere, which discloses exact "
        "values",
    )
    says: ClassVar[str] = "Records are divided recursively at medians (Mondrian)."
    iso: ClassVar[str] = "generalisation, class by class (Mondrian)"
    minds_quality: ClassVar[bool] = False
    any_number: ClassVar[bool] = True
    allows: ClassVar[frozenset[Allows]] = frozenset({Allows.OUTLIERS, Allows.LEVELS, Allows.SEVERAL})

    @property
    def notes(self) -> tuple[str, ...]:
        """A note that the bounds of intervals may be exact values, if numbers are cut anywhere."""
        if self.cuts == "hierarchy":
            return ()
        return ("Numbers are cut anywhere: the bounds of their intervals are exact values of class members.",)

    def treat(self, goal: Goal, progress: Hook = silent) -> Treatment:
        """Cut parts at medians, and respect the suppression limit."""
        jury = Jury(goal)
        units = jury.units if self.strict else jury.records
        if units.holders is not None:
            return within_limit(goal, PersonCutting(goal, jury, trees(goal.space), progress).coarsest(), progress)
        chosen = axes(goal.space, goal.bounds, free=self.cuts == "anywhere")
        cutting = Cutting(goal, jury, units, chosen, progress, strict=self.strict)
        classes = cutting.run(cutting.coarsest(), np.zeros(len(units), bool))
        return within_limit(goal, classes, progress)
