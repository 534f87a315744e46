"""What the numbers do not cover."""

from importlib.resources import files

from shoal.reporting.audience import Audience
from shoal.reporting.document import Listing, Section, Text, Tone
from shoal.reporting.findings import Findings


def limits(found: Findings, audience: Audience) -> Section:
    """Say what nobody should conclude from the numbers."""
    lead = Text("A number is as good as its assumptions. These are outside what was measured.", Tone.LEAD)
    return Section.of("What the numbers do not cover", "limits", [lead, Listing(tuple(_points(found, audience)))])


def _points(found: Findings, audience: Audience) -> list[str]:
    text = files("shoal.reporting").joinpath("texts/limits.txt").read_text(encoding="utf-8")
    points = text.splitlines()
    if found.attacks is None:
        points.insert(3, "The release was not attacked for this report.")
    if found.release is None:
        how = found.comparison.matched
        matching = "Its records could not be matched" if how is None else f"Its records were matched {how}"
        points.append(f"The release was not made by shoal. {matching}.")
    truth = None if found.release is None else found.release.public["truthful"]
    if truth:
        points.append(f"On truthfulness: {truth}")
    if not audience.external:
        own = () if found.release is None else found.release.notes
        points += dict.fromkeys([*own, *found.before.notes, *found.after.notes, *found.comparison.notes])
    return points
