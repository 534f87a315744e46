"""Progress of long computations, with one hook for the command line, the workbench and notebooks.

Long computations accept ``progress: Hook | None`` and call it from time to time. A hook stops the computation by
raising :class:`shoal.errors.Cancelled`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a computation: ``done`` of ``total`` steps (None: unknown), and a ``note`` on the current step.

    >>> Progress("reading", 5, 20).share
    0.25
    """

    note: str
    done: int
    total: int | None = None

    @property
    def share(self) -> float | None:
        """The completed share, from 0 to 1; None if the total is unknown."""
        return min(self.done / self.total, 1.0) if self.total else None


Hook: TypeAlias = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Ignore progress: the default hook."""
    del progress
