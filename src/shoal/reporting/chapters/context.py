"""Who gets the data, who may try to find somebody in them, and what they are assumed to know."""

from shoal.reporting.audience import Audience
from shoal.reporting.document import Block, Facts, Listing, Section, Text, Tone
from shoal.reporting.findings import PublicFindings
from shoal.sheet import Sheet
from shoal.table.role import Role
from shoal.words import odds


def context(found: PublicFindings, audience: Audience) -> Section:
    """Tell of recipient, adversaries and assumptions."""
    del audience  # nothing in it is counted
    lead = Text("Risk depends on who holds the data and on what they know. This is what is assumed.", Tone.LEAD)
    parts: list[Block | None] = [lead, _recipient(found), _adversaries(found), _threats(found), _assumptions(found)]
    return Section.of("Context: recipient, adversaries, plausible attacks", "context", parts)


def _recipient(found: PublicFindings) -> Facts:
    said = found.policy.context
    who = said.recipient if said is not None and said.recipient else "not stated in the policy"
    public = said is not None and said.public
    sensitive = ", ".join(found.with_role(Role.SENSITIVE))
    sources = [one.source for one in found.requirements if one.source != "policy"]
    return Facts(
        (
            ("Recipient", who),
            ("Release", "public: somebody will surely try" if public else "to the recipient"),
            ("Known to others (quasi-identifiers)", ", ".join(found.with_role(Role.QUASI))),
            ("Not to be learned (sensitive)", sensitive or "no column is called sensitive"),
            ("Required by", ", ".join(dict.fromkeys(["the owner's policy", *sources]))),
        )
    )


def _adversaries(found: PublicFindings) -> Sheet:
    rows = [
        (one.adversary, one.meaning, one.basis)
        for one in (found.after.prosecutor, found.after.journalist, found.after.marketer)
    ]
    return Sheet("Adversaries", ("adversary", "what this one does", "risk in the release is"), tuple(rows), words=3)


def _threats(found: PublicFindings) -> Sheet | None:
    held = found.after.context
    if held is None or not found.countable:
        return None
    rows = [(one.name, f"{one.probability:.2f}", odds(one.risk)) for one in held.threats]
    title = f"How likely it is that somebody tries: the overall risk is {odds(held.overall)}"
    told = "Overall risk: that of the likeliest threat, probability × highest risk in the data (El Emam 2013)."
    return Sheet(title, ("threat", "probability", "risk in the release"), tuple(rows), (told,))


def _assumptions(found: PublicFindings) -> Listing:
    number = len(found.with_role(Role.QUASI))
    known = "the quasi-identifier" if number == 1 else f"all {number} quasi-identifiers"
    points = [
        f"An adversary may know {known} of a person exactly, and that the person is in the data (prosecutor).",
        "Nothing else in the release is known to an adversary beforehand; whoever knows more can find out more.",
        found.after.missing.says,
    ]
    if not found.counts_persons:
        points.append("No column says whose record it is: every record is taken for a person.")
    if found.with_role(Role.HOUSEHOLD):
        points.append("Members of a household may be found together; that was looked at in the original.")
    return Listing(tuple(points))
