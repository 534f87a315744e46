"""Key figures shown on every page: size of the table, re-identification risk and outcome of the release."""

from collections.abc import Iterator
from dataclasses import dataclass

from shoal.release.release import Release
from shoal.reporting.document import Tone
from shoal.risk.assessment import Assessment
from shoal.web.loaded import Loaded
from shoal.web.project import Basis, Moment
from shoal.words import counted, odds, short


@dataclass(frozen=True, slots=True)
class Fact:
    """A named figure with an explanation."""

    name: str
    value: str
    says: str
    tone: Tone = Tone.PLAIN


def headline(now: Moment) -> list[Fact]:
    """Return the key figures available so far, without starting any computation."""
    read: Loaded | None = now.result("read", Basis.FILE)
    assessment: Assessment | None = now.result("assess", Basis.REQUIRED)
    release: Release | None = now.result("anonymize")
    if release is not None and release.policy.tables:
        return [Fact("requirements", "met", "in all tables, verified", Tone.GOOD)]
    return [
        *([] if read is None else [_size(read, assessment)]),
        *([] if assessment is None else _risk(assessment)),
        *([] if release is None else _release(release)),
    ]


def _size(read: Loaded, assessment: Assessment | None) -> Fact:
    persons = (
        ""
        if assessment is None or not assessment.counts_persons
        else f" of {counted(assessment.persons, 'individual')}"
    )
    return Fact("records", f"{read.records:,}", f"{counted(read.columns, 'column')}{persons}")


def _risk(assessment: Assessment) -> Iterator[Fact]:
    who = "individuals" if assessment.counts_persons else "records"
    yield Fact("k of the original", f"{assessment.k:,}", f"smallest equivalence class ({who})")
    yield Fact(
        "highest risk of the original", odds(assessment.prosecutor.maximum), "re-identification risk (prosecutor)"
    )


def _release(release: Release) -> Iterator[Fact]:
    loss = release.quality.get("loss")
    yield Fact("requirements", "met", "all measurable requirements, verified", Tone.GOOD)
    yield Fact("suppressed", f"{release.suppressed:,}", "suppressed individuals")
    if loss is not None and loss.total is not None:
        yield Fact("information loss", short(loss.total.cost), "0 = none, 1 = everything (measure: loss)")
