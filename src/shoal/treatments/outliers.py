"""Outliers: what becomes of records that fit into no class."""

from collections.abc import Callable

from shoal.policy.search import Search
from shoal.progress import Hook
from shoal.registry import Registry
from shoal.search.goal import Goal
from shoal.treatments.treatment import Treatment

Dealing = Callable[[Goal, Treatment, Search, Hook], Treatment]
OUTLIERS: Registry[Dealing] = Registry("way to deal with outliers", "shoal.treatments")


@OUTLIERS.register("suppress")
def suppress(goal: Goal, found: Treatment, how: Search, progress: Hook) -> Treatment:  # noqa: ARG001 - as the others
    """Leave them out: nothing is to be done."""
    return found
