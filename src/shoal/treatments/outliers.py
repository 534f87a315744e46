"""Outliers: what becomes of records that fit into no class."""

from collections.abc import Callable

from shoal.progress import Hook
from shoal.registry import Registry
from shoal.search.goal import Goal
from shoal.treatments.settings import Settings
from shoal.treatments.treatment import Treatment

Dealing = Callable[[Goal, Treatment, Settings, Hook], Treatment]
OUTLIERS: Registry[Dealing] = Registry("way to deal with outliers", "shoal.treatments")


@OUTLIERS.register("suppress")
def suppress(goal: Goal, treatment: Treatment, how: Settings, progress: Hook) -> Treatment:  # noqa: ARG001 - as the others
    """Leave them out: nothing is to be done."""
    return treatment
