"""Registry of the chapters of a report. A chapter presents findings about a release to an audience."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from shoal.registry import Registry
from shoal.reporting.audience import Audience
from shoal.reporting.document import Section
from shoal.reporting.findings import PublicFindings

Writer: TypeAlias = Callable[[PublicFindings, Audience], Section]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter: its writer and its position.

    The order follows ISO/IEC 27559, which begins with the context and ends with governance.
    """

    place: int
    write: Writer


CHAPTERS: Registry[Chapter] = Registry("chapter", "shoal.reporting.chapters")


def chapter(name: str, place: int) -> Callable[[Writer], Writer]:
    """Return a decorator that registers a function as a chapter of every report."""

    def add(write: Writer) -> Writer:
        CHAPTERS.register(name)(Chapter(place, write))
        return write

    return add


def in_order() -> list[Chapter]:
    """Return all chapters in reading order.

    >>> [each.write.__name__ for each in in_order()][:3]
    ['summary', 'context', 'data']
    """
    return sorted(CHAPTERS.values(), key=lambda each: each.place)
