"""The numbers that are always in sight: how large the table is, how safe it is, and what came of the release."""

from collections.abc import Iterator
from dataclasses import dataclass

from shoal.assessment import Assessment
from shoal.errors import counted
from shoal.release.release import Release
from shoal.reporting.document import Tone
from shoal.table.table import Table
from shoal.web.project import Basis, Project
from shoal.words import odds


@dataclass(frozen=True, slots=True)
class Fact:
    """A number, what it is called, and a sentence that says what it means."""

    name: str
    value: str
    says: str
    tone: Tone = Tone.PLAIN


def headline(project: Project) -> list[Fact]:
    """Return what is known by now; nothing is worked out for it."""
    table: Table | None = project.result("read", Basis.FILE)
    found: Assessment | None = project.result("assess", Basis.REQUIRED)
    release: Release | None = project.result("anonymize")
    return [
        *([] if table is None else [_size(table, found)]),
        *([] if found is None else _risk(found)),
        *([] if release is None else _release(release)),
    ]


def _size(table: Table, found: Assessment | None) -> Fact:
    persons = "" if found is None or not found.counts_persons else f" of {counted(found.persons, 'person')}"
    return Fact("records", f"{table.records:,}", f"{counted(len(table.names), 'column')}{persons}")


def _risk(found: Assessment) -> Iterator[Fact]:
    who = "persons" if found.counts_persons else "records"
    yield Fact("k now", f"{found.k:,}", f"the fewest {who} that look alike to who knows all quasi-identifiers")
    yield Fact("highest risk now", odds(found.prosecutor.maximum), "that somebody is found who is known to be in it")


def _release(release: Release) -> Iterator[Fact]:
    loss = release.quality.get("loss")
    met = "all that is required was verified in the written table"
    yield Fact("release", "met" if release.verified else "not met", met, Tone.GOOD if release.verified else Tone.BAD)
    persons = max(release.suppressed, 0)
    yield Fact("left out", f"{persons:,}", "persons who are not in the release")
    if loss is not None and loss.total is not None:
        yield Fact("information left", f"{1 - loss.total.cost:.0%}", "of what the quasi-identifiers told, by loss")
