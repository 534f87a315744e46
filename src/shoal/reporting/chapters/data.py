"""What the data are."""

from collections.abc import Iterator

from shoal.reporting.audience import Audience
from shoal.reporting.document import Facts, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.sheet import Sheet
from shoal.table.role import Role


def data(found: PublicFindings, audience: Audience) -> Section:
    """Tell how large the data are, and what each column is to somebody who looks for a person."""
    del audience  # sizes of the released table are no secret
    lead = Text("Every column has a role. Columns without one are not released.", Tone.LEAD)
    return Section.of("The data and their variables", "data", [lead, Facts(tuple(_size(found))), _roles(found)])


def _size(found: PublicFindings) -> Iterator[tuple[str, str]]:
    if isinstance(found, Findings):
        yield "Records in the original", f"{found.before.records:,}"
        yield "Persons in the original", f"{found.before.persons:,}" if found.before.counts_persons else "–"
    yield "Records in the release", f"{found.released.records:,}"
    if found.counts_persons and found.seen.subject is not None:
        yield "Persons in the release", f"{found.persons:,}"
    yield "Columns", f"{len(found.released.names)} of {len(found.variables)} are released"
    if found.policy.search.sample is not None:
        yield "Sample", f"{found.policy.search.sample:.1%} of the persons were drawn at random"
    if isinstance(found, Findings) and found.release is not None:
        yield "Fingerprint of the original", str(found.release.internal["input"]["fingerprint"])


def _roles(found: PublicFindings) -> Sheet:
    rows = [(str(role), role.meaning, ", ".join(names)) for role in Role if (names := found.with_role(role))]
    unnamed = [name for name, role in found.variables.items() if role is None]
    rows += [("none", "not named in the policy; not released", ", ".join(unnamed))] if unnamed else []
    return Sheet("Variables by role", ("role", "what it is", "variables"), tuple(rows), words=3)
