"""The conclusion, what a person still has to confirm, and who signs."""

from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.chapters.summary import verdict
from shoal.reporting.document import Block, Listing, Section, Signature, Text, Tone
from shoal.reporting.findings import PublicFindings

_ALWAYS = (
    "The roles of the columns were reviewed by somebody who knows the data.",
    "The recipient and the purpose are as stated, and an agreement is in force where one is needed.",
    "Earlier releases of the same persons were considered.",
    "A date is set at which the risk is assessed again.",
)


@chapter("conclusion", place=100)
def conclusion(findings: PublicFindings, audience: Audience) -> Section:
    """Say what follows from the numbers, and what does not follow from them."""
    del audience  # the same for everybody
    points = [f"{item} ({preset})" for preset, item in findings.policy.checklist]
    ask = Text("No number shows the following. Somebody has to confirm it:", Tone.PLAIN)
    lines = ("Name and function", "Place and date", "Signature")
    parts: list[Block] = [verdict(findings), ask, Listing((*points, *_ALWAYS), open=True), Signature(lines)]
    return Section.of("Conclusion and sign-off", "conclusion", parts)
