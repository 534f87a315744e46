"""Chapter with the conclusion, the points to confirm manually, and the signature."""

from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.chapters.summary import verdict
from shoal.reporting.dataset_findings import DatasetFindings
from shoal.reporting.document import Block, Listing, Section, Signature, Text, Tone
from shoal.reporting.findings import PublicFindings

_ALWAYS = (
    "The roles of the columns were reviewed by an expert on the data.",
    "The recipient and the purpose are documented, and an agreement is in force where one is required.",
    "Earlier releases of the same individuals were considered.",
    "A date for the next risk assessment is set.",
)


@chapter("conclusion", place=100, whole=True)
def conclusion(findings: PublicFindings | DatasetFindings, audience: Audience) -> Section:
    """State the verdict, and list the points that cannot be computed and need manual confirmation."""
    del audience  # identical for all audiences
    checklists = [found.policy.checklist for found in findings.by_table.values()]
    points = dict.fromkeys(f"{item} ({preset})" for checklist in checklists for preset, item in checklist)
    ask = Text("The following cannot be computed and must be confirmed manually:", Tone.PLAIN)
    lines = ("Name and position", "Place and date", "Signature")
    parts: list[Block] = [verdict(findings), ask, Listing((*points, *_ALWAYS), open=True), Signature(lines)]
    return Section.of("Conclusion and sign-off", "conclusion", parts)
