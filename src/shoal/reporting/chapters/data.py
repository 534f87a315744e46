"""Chapter on the data and the roles of their variables."""

from collections.abc import Iterator

from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.document import Facts, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.sheet import Sheet
from shoal.table.role import Role
from shoal.words import share


@chapter("data", place=30)
def data(findings: PublicFindings, audience: Audience) -> Section:
    """Describe the size of the data and the role of each column."""
    del audience  # the size of the released table is public
    lead = Text(
        "Each column has a role, which determines its treatment. Columns without a role are not released.", Tone.LEAD
    )
    return Section.of("Data and variables", "data", [lead, Facts(tuple(_size(findings))), _roles(findings)])


def _size(findings: PublicFindings) -> Iterator[tuple[str, str]]:
    if isinstance(findings, Findings):
        yield "Records in the original", f"{findings.before.records:,}"
        yield "Individuals in the original", f"{findings.before.persons:,}" if findings.before.counts_persons else "–"
    yield "Records in the release", f"{findings.released.records:,}"
    if findings.counts_persons and findings.seen.subject is not None:
        yield "Individuals in the release", f"{findings.persons:,}"
    yield "Columns", f"{len(findings.released.names)} of {len(findings.variables)} are released"
    if findings.policy.search.sample is not None:
        yield "Sample", f"{share(findings.policy.search.sample)} of the individuals, drawn at random"
    if isinstance(findings, Findings) and findings.part is not None:
        yield "Fingerprint of the original", str(findings.part.internal["input"]["fingerprint"])


def _roles(findings: PublicFindings) -> Sheet:
    rows = [(str(role), role.meaning, ", ".join(names)) for role in Role if (names := findings.with_role(role))]
    unnamed = [name for name, role in findings.variables.items() if role is None]
    rows += [("none", "not named in the policy; not released", ", ".join(unnamed))] if unnamed else []
    return Sheet("Variables by role", ("role", "meaning", "variables"), tuple(rows), words=3)
