"""Registry of the chapters of a report. A chapter presents findings about a release to an audience."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from shoal.progress import Hook, Progress
from shoal.registry import Registry
from shoal.reporting.audience import Audience
from shoal.reporting.dataset_findings import DatasetFindings
from shoal.reporting.document import Section
from shoal.reporting.findings import PublicFindings

Writer: TypeAlias = Callable[[Any, Audience], Section]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter: its writer, its position, and whether it concerns the whole release.

    The order follows ISO/IEC 27559, which begins with the context and ends with governance. In the report on a dataset,
    a chapter on the ``whole`` release occurs once, and the other chapters occur for each table.
    """

    place: int
    write: Writer
    whole: bool


CHAPTERS: Registry[Chapter] = Registry("chapter", "shoal.reporting.chapters")


def chapter(name: str, place: int, *, whole: bool = False) -> Callable[[Writer], Writer]:
    """Return a decorator that registers a function as a chapter of every report.

    The function takes :class:`PublicFindings` of a table; a chapter on the ``whole`` release also takes
    :class:`DatasetFindings`.
    """

    def add(write: Writer) -> Writer:
        CHAPTERS.register(name)(Chapter(place, write, whole))
        return write

    return add


def in_order() -> list[Chapter]:
    """Return all chapters in reading order.

    >>> [each.write.__name__ for each in in_order()][:3]
    ['summary', 'context', 'data']
    """
    return sorted(CHAPTERS.values(), key=lambda each: each.place)


def written(findings: PublicFindings | DatasetFindings, audience: Audience, progress: Hook) -> Iterator[Section]:
    """Write all chapters; in the report on a dataset, one section per table has the chapters on tables."""
    if isinstance(findings, PublicFindings):
        for done, each in enumerate(in_order()):
            progress(Progress("writing the report", done, len(CHAPTERS)))
            yield each.write(findings, audience)
        return
    on_tables = [each for each in in_order() if not each.whole]
    for each in in_order():
        if each.whole:
            yield each.write(findings, audience)
        elif each is on_tables[0]:
            yield from _of_tables(findings, on_tables, audience, progress)


def _of_tables(
    findings: DatasetFindings, chapters: list[Chapter], audience: Audience, progress: Hook
) -> Iterator[Section]:
    for done, (name, of_table) in enumerate(findings.by_table.items()):
        progress(Progress(f"writing the report on {name}", done, len(findings.by_table)))
        anchor = f"table-{done + 1}"
        yield Section(
            f"Table {name}", anchor, tuple(each.write(of_table, audience).within(anchor) for each in chapters)
        )
