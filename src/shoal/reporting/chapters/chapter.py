"""A chapter of a report: what is found out about a release, told to an audience."""

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
    """What writes it, and its place: ISO/IEC 27559 begins with the context, and ends with governance."""

    place: int
    write: Writer


CHAPTERS: Registry[Chapter] = Registry("chapter", "shoal.reporting.chapters")


def chapter(name: str, place: int) -> Callable[[Writer], Writer]:
    """Return a decorator that makes a function a chapter of every report."""

    def add(write: Writer) -> Writer:
        CHAPTERS.register(name)(Chapter(place, write))
        return write

    return add


def in_order() -> list[Chapter]:
    """Return all chapters as they are read.

    >>> [each.write.__name__ for each in in_order()][:3]
    ['summary', 'context', 'data']
    """
    return sorted(CHAPTERS.values(), key=lambda each: each.place)
