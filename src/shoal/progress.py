"""One hook for everybody who waits: command line, web page and notebook.

Long work takes ``progress: Hook | None`` and calls it now and then. A hook that wants the work to stop raises
:class:`shoal.errors.Cancelled`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a piece of work is: ``done`` of ``total`` (None: unknown), and what is being done.

    >>> Progress("reading", 5, 20).share
    0.25
    """

    note: str
    done: int
    total: int | None = None

    @property
    def share(self) -> float | None:
        """The part that is done, from 0 to 1, where the total is known."""
        return min(self.done / self.total, 1.0) if self.total else None


Hook: TypeAlias = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Take progress and do nothing: the hook of those who do not wait."""
    del progress
