"""Chapter on limitations."""

from importlib.resources import files

from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.chapters.variables import truthfulness
from shoal.reporting.document import Listing, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings


@chapter("limits", place=90)
def limits(findings: PublicFindings, audience: Audience) -> Section:
    """List the limitations of the figures."""
    del audience  # notes on the original are in the owner's findings only
    lead = Text("The figures of this report rest on assumptions and do not cover the following.", Tone.LEAD)
    return Section.of("Limitations", "limits", [lead, Listing(tuple(_points(findings)))])


def _points(findings: PublicFindings) -> list[str]:
    text = files("shoal.reporting").joinpath("texts/limits.txt").read_text(encoding="utf-8")
    points = text.splitlines()
    if findings.attacks is None and isinstance(findings, Findings):
        points.insert(3, "No attack was run for this report.")
    if not findings.ours:
        points.append("There is no record that this release was made from these data with this policy.")
    if truthfulness(findings):
        points.append(f"Truthfulness: {truthfulness(findings)}")
    if isinstance(findings, Findings):
        own = () if findings.release is None else findings.release.notes
        points += dict.fromkeys([*own, *findings.before.notes, *findings.after.notes, *findings.comparison.notes])
    return points
