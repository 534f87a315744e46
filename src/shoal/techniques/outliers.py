"""Treatment of outliers, the persons who fit into no class."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from shoal.progress import Hook
from shoal.registry import Registry
from shoal.search.goal import Goal
from shoal.techniques.technique import Truth
from shoal.techniques.treatment import Treatment


class Outliers(ABC):
    """A method for the treatment of outliers, which turns one treatment into another.

    ``brief``: the method in the words of a policy. ``done``: the method in the words of a report on a column. ``was``
    and ``may_be``: sentences on truthfulness, if the method was applied, and if it may have been. ``counts``: the
    figures that :meth:`deal` records, with their meaning. ``needs_scheme``: all records must be generalised by one
    scheme. ``adds_records``: artificial records are added, with values that are drawn.
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
        """Return the treatment with its outliers dealt with."""

    def told(self, facts: Mapping[str, Any]) -> str:  # noqa: ARG002 - for subclasses
        """Return a sentence on the result, with the recorded figures."""
        return ""


OUTLIERS: Registry[Outliers] = Registry("way to deal with outliers", "shoal.techniques")


class LeftOut(Outliers):
    """Outliers stay suppressed."""

    brief: ClassVar[str] = "they are suppressed"
    is_usual: ClassVar[bool] = True

    def deal(self, goal: Goal, treatment: Treatment, progress: Hook) -> Treatment:  # noqa: ARG002 - interface
        """Return the treatment unchanged."""
        return treatment


OUTLIERS.register("suppress")(LeftOut())


def usual_way() -> str:
    """Return the name of the default treatment of outliers."""
    return next(name for name in OUTLIERS if OUTLIERS[name].is_usual)
