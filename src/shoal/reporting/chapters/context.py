"""Who gets the data, who may try to find somebody in them, and what they are assumed to know."""

from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.document import Block, Facts, Listing, Section, Text, Tone
from shoal.reporting.findings import PublicFindings
from shoal.sheet import Sheet
from shoal.table.role import Role
from shoal.words import odds


@chapter("context", place=20)
def context(findings: PublicFindings, audience: Audience) -> Section:
    """Tell of recipient, adversaries and assumptions."""
    del audience  # nothing in it is counted
    lead = Text("Risk depends on who holds the data and on what they know. This is what is assumed.", Tone.LEAD)
    parts: list[Block | None] = [
        lead,
        _recipient(findings),
        _adversaries(findings),
        _threats(findings),
        _assumptions(findings),
    ]
    return Section.of("Context: recipient, adversaries, plausible attacks", "context", parts)


def _recipient(findings: PublicFindings) -> Facts:
    context = findings.policy.context
    who = context.recipient if context is not None and context.recipient else "not stated in the policy"
    public = context is not None and context.public
    sensitive = ", ".join(findings.with_role(Role.SENSITIVE))
    sources = [requirement.source for requirement in findings.requirements if requirement.source != "policy"]
    return Facts(
        (
            ("Recipient", who),
            ("Release", "public: somebody will surely try" if public else "to the recipient"),
            ("Known to others (quasi-identifiers)", ", ".join(findings.with_role(Role.QUASI))),
            ("Not to be learned (sensitive)", sensitive or "no column is called sensitive"),
            ("Required by", ", ".join(dict.fromkeys(["the owner's policy", *sources]))),
        )
    )


def _adversaries(findings: PublicFindings) -> Sheet:
    rows = [
        (risk.adversary, risk.meaning, risk.basis)
        for risk in (findings.after.prosecutor, findings.after.journalist, findings.after.marketer)
    ]
    return Sheet("Adversaries", ("adversary", "what this one does", "risk in the release is"), tuple(rows), words=3)


def _threats(findings: PublicFindings) -> Sheet | None:
    context = findings.after.context
    if context is None or not findings.countable:
        return None
    rows = [(threat.name, f"{threat.probability:.2f}", odds(threat.risk)) for threat in context.threats]
    title = f"How likely it is that somebody tries: the overall risk is {odds(context.overall)}"
    note = "Overall risk: that of the likeliest threat, probability × highest risk in the data (El Emam 2013)."
    return Sheet(title, ("threat", "probability", "risk in the release"), tuple(rows), (note,))


def _assumptions(findings: PublicFindings) -> Listing:
    number = len(findings.with_role(Role.QUASI))
    known = "the quasi-identifier" if number == 1 else f"all {number} quasi-identifiers"
    points = [
        f"An adversary may know {known} of a person exactly, and that the person is in the data (prosecutor).",
        "Nothing else in the release is known to an adversary beforehand; whoever knows more can find out more.",
        findings.after.missing.says,
    ]
    if not findings.counts_persons:
        points.append("No column says whose record it is: every record is taken for a person.")
    if findings.with_role(Role.HOUSEHOLD):
        points.append("Members of a household may be found together; that was looked at in the original.")
    return Listing(tuple(points))
