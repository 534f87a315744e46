"""What the data are."""

from shoal.reporting.audience import Audience
from shoal.reporting.document import Facts, Section, Text, Tone
from shoal.reporting.findings import Findings
from shoal.sheet import Sheet
from shoal.table.role import Role


def data(found: Findings, audience: Audience) -> Section:
    """Tell how large the data are, and what each column is to somebody who looks for a person."""
    lead = Text("Every column has a role. Columns without one are not released.", Tone.LEAD)
    return Section.of("The data and their variables", "data", [lead, _size(found, audience), _roles(found)])


def _size(found: Findings, audience: Audience) -> Facts:
    facts = [("Records in the release", f"{found.released.records:,}")]
    if not audience.external:
        facts.insert(0, ("Records in the original", f"{found.before.records:,}"))
        facts.insert(
            1, ("Persons in the original", f"{found.before.persons:,}" if found.before.counts_persons else "–")
        )
    if found.before.counts_persons and found.seen.subject is not None:
        facts.append(("Persons in the release", f"{found.persons:,}"))
    facts.append(("Columns", f"{len(found.released.names)} of {len(found.original.names)} are released"))
    share = found.policy.search.sample
    if share is not None:
        facts.append(("Sample", f"{share:.1%} of the persons were drawn at random"))
    if not audience.external and found.release is not None:
        facts.append(("Fingerprint of the original", str(found.release.internal["input"]["fingerprint"])))
    return Facts(tuple(facts))


def _roles(found: Findings) -> Sheet:
    rows = [(str(role), role.meaning, ", ".join(names)) for role in Role if (names := found.original.with_role(role))]
    rows += [("none", "not named in the policy; not released", ", ".join(rest))] if (rest := _unnamed(found)) else []
    return Sheet("Variables by role", ("role", "what it is", "variables"), tuple(rows), words=3)


def _unnamed(found: Findings) -> tuple[str, ...]:
    return tuple(name for name in found.original.names if name not in found.original.roles)
