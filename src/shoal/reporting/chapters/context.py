"""Chapter on the context: recipient, adversaries and assumptions."""

from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.document import Block, Facts, Listing, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.sheet import Sheet
from shoal.table.role import Role
from shoal.words import odds, short


@chapter("context", place=20)
def context(findings: PublicFindings, audience: Audience) -> Section:
    """Describe the recipient, the adversaries and the assumptions."""
    del audience  # contains no counts
    lead = Text(
        "Re-identification risk depends on the recipient and on the background knowledge of an adversary. The "
        "following is assumed.",
        Tone.LEAD,
    )
    parts: list[Block | None] = [
        lead,
        _recipient(findings),
        _adversaries(findings),
        _threats(findings),
        _assumptions(findings),
    ]
    return Section.of("Context: recipient, adversaries, assumptions", "context", parts)


def _recipient(findings: PublicFindings) -> Facts:
    context = findings.policy.context
    who = context.recipient if context is not None and context.recipient else "not stated in the policy"
    public = context is not None and context.public
    sensitive = ", ".join(findings.with_role(Role.SENSITIVE))
    sources = [requirement.source for requirement in findings.requirements if requirement.source != "policy"]
    return Facts(
        (
            ("Recipient", who),
            ("Type of release", "public; an attempt is assumed to be certain" if public else "not public"),
            ("Quasi-identifiers", ", ".join(findings.with_role(Role.QUASI))),
            ("Sensitive attributes", sensitive or "none"),
            ("Source of the requirements", ", ".join(dict.fromkeys(["the owner's policy", *sources]))),
        )
    )


def _adversaries(findings: PublicFindings) -> Sheet | None:
    after = findings.risks
    if after is None:
        return None
    rows = [(risk.adversary, risk.meaning, risk.basis) for risk in (after.prosecutor, after.journalist, after.marketer)]
    return Sheet("Adversaries", ("adversary", "description", "basis of the risk"), tuple(rows), words=3)


def _threats(findings: PublicFindings) -> Sheet | Text | None:
    context = None if findings.risks is None else findings.risks.context
    if context is None or not findings.countable:
        return None
    rows = [(threat.name, short(threat.probability), odds(threat.risk)) for threat in context.threats]
    limit = float(findings.threshold)  # as the risk, which is compared with the same rounding in the summary
    if float(context.data) > limit and not isinstance(findings, Findings):
        note = f"Overall risk: not published, because the highest risk is above {odds(limit)}."
        return Text(note, Tone.NOTE)  # as in the summary
    title = f"Overall risk: {odds(context.overall)}"
    note = "Overall risk: highest product of the probability of an attempt and the journalist risk (El Emam 2013)."
    return Sheet(title, ("threat", "probability of an attempt", "risk"), tuple(rows), (note,))


def _households(findings: PublicFindings) -> str:
    """Return a sentence on households; the risk is a figure about the original, for the owner only."""
    text = "Members of a household may be re-identified together. The release has no column for households"
    before = findings.before.household if isinstance(findings, Findings) else None
    if before is None:
        return f"{text}, so this risk is not measured for it."
    risk = f"the average risk that at least one member is re-identified is {odds(before.average)}"
    return f"{text}. In the original, {risk}."


def _assumptions(findings: PublicFindings) -> Listing:
    number = len(findings.with_role(Role.QUASI))
    known = (
        "the quasi-identifier"
        if number == 1
        else "both quasi-identifiers"
        if number == 2
        else f"all {number} quasi-identifiers"
    )
    points = [
        f"An adversary knows the exact values of {known} of an individual who is known to be in the data (prosecutor).",
        "An adversary knows no other released attribute beforehand. More background knowledge increases the risk.",
        findings.policy.data.missing.says,
    ]
    if not findings.counts_persons:
        points.append("No subject column is set: every record is counted as an individual.")
    if findings.with_role(Role.HOUSEHOLD):
        points.append(_households(findings))
    return Listing(tuple(points))
