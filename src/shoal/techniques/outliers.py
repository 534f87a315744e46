"""Outliers: what becomes of persons who fit into no class."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from shoal.progress import Hook
from shoal.registry import Registry
from shoal.search.goal import Goal
from shoal.techniques.technique import Truth
from shoal.techniques.treatment import Treatment


class Outliers(ABC):
    """A way to deal with outliers, treatment in, treatment out.

    ``brief``: what becomes of them, as a policy says it. ``done``: the same, as a report says it of a column. ``was``
    and ``may_be``: sentences on truthfulness, where it is known that it happened, and where it may have. ``counts``:
    the numbers that :meth:`deal` notes, and of what. ``needs_scheme``: all records must be on one scheme.
    ``adds_records``: records are invented, with values that are drawn.
    """

    brief: ClassVar[str]
    done: ClassVar[str] = ""
    truth: ClassVar[Truth] = Truth.TRUE
    was: ClassVar[str] = ""
    may_be: ClassVar[str] = ""
    counts: ClassVar[Mapping[str, str]] = {}
    needs_scheme: ClassVar[bool] = False
    adds_records: ClassVar[bool] = False
    is_usual: ClassVar[bool] = False

    @abstractmethod
    def deal(self, goal: Goal, treatment: Treatment, progress: Hook) -> Treatment:
        """Return the treatment, with something done about its outliers."""

    def told(self, facts: Mapping[str, Any]) -> str:  # noqa: ARG002 - for subclasses
        """Say what was done, by the numbers that were noted."""
        return ""


OUTLIERS: Registry[Outliers] = Registry("way to deal with outliers", "shoal.techniques")


class LeftOut(Outliers):
    """They are left out: nothing is to be done."""

    brief: ClassVar[str] = "they are suppressed"
    is_usual: ClassVar[bool] = True

    def deal(self, goal: Goal, treatment: Treatment, progress: Hook) -> Treatment:  # noqa: ARG002 - as the others
        """Leave them out."""
        return treatment


OUTLIERS.register("suppress")(LeftOut())


def usual_way() -> str:
    """Return the name of what is done if a policy says nothing."""
    return next(name for name in OUTLIERS if OUTLIERS[name].is_usual)
