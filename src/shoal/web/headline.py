"""The numbers that are always in sight: how large the table is, how safe it is, and what came of the release."""

from collections.abc import Iterator
from dataclasses import dataclass

from shoal.errors import counted
from shoal.release.release import Release
from shoal.reporting.document import Tone
from shoal.risk.assessment import Assessment
from shoal.web.loaded import Loaded
from shoal.web.project import Basis, Moment
from shoal.words import odds


@dataclass(frozen=True, slots=True)
class Fact:
    """A number, what it is called, and a sentence that says what it means."""

    name: str
    value: str
    says: str
    tone: Tone = Tone.PLAIN


def headline(now: Moment) -> list[Fact]:
    """Return what is known by now; nothing is worked out for it."""
    read: Loaded | None = now.result("read", Basis.FILE)
    assessment: Assessment | None = now.result("assess", Basis.REQUIRED)
    release: Release | None = now.result("anonymize")
    return [
        *([] if read is None else [_size(read, assessment)]),
        *([] if assessment is None else _risk(assessment)),
        *([] if release is None else _release(release)),
    ]


def _size(read: Loaded, assessment: Assessment | None) -> Fact:
    persons = (
        "" if assessment is None or not assessment.counts_persons else f" of {counted(assessment.persons, 'person')}"
    )
    return Fact("records", f"{read.records:,}", f"{counted(read.columns, 'column')}{persons}")


def _risk(assessment: Assessment) -> Iterator[Fact]:
    who = "persons" if assessment.counts_persons else "records"
    yield Fact("k now", f"{assessment.k:,}", f"the fewest {who} that look alike to who knows all quasi-identifiers")
    yield Fact(
        "highest risk now", odds(assessment.prosecutor.maximum), "that somebody is found who is known to be in it"
    )


def _release(release: Release) -> Iterator[Fact]:
    loss = release.quality.get("loss")
    yield Fact("release", "met", "all that is required was verified in the written table", Tone.GOOD)
    yield Fact("left out", f"{release.suppressed:,}", "persons who lose a record, or all of them")
    if loss is not None and loss.total is not None:
        yield Fact("information left", f"{1 - loss.total.cost:.0%}", "of what the quasi-identifiers told, by loss")
