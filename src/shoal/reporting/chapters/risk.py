"""Chapter on the risk before and after: identity disclosure and attribute disclosure."""

from collections.abc import Collection, Iterator, Sequence

from shoal.charts.class_sizes import class_sizes
from shoal.charts.facts import facts
from shoal.charts.heatmap import heatmap
from shoal.charts.risks import risks
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.chapters.tables import tables
from shoal.reporting.document import Figure, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.reporting.required import Required
from shoal.risk.adversary import Risk
from shoal.risk.assessment import Assessment
from shoal.sheet import Sheet
from shoal.words import odds, share, short

_RELEASED = ("variable", "baseline", "release", "in classes with a common value")
_BOTH = (
    "variable",
    "baseline",
    "original",
    "release",
    "in classes with a common value, original",
    "in classes with a common value, release",
)


@chapter("risk", place=60)
def risk(findings: PublicFindings, audience: Audience) -> Section:
    """Report the risk by requirement, with separate sections on identity disclosure and attribute disclosure."""
    lead = Text(
        "Identity disclosure: a record is attributed to an individual. Attribute disclosure: an attribute is inferred, "
        "with or without identity disclosure. A release can be protected against one and not against the other.",
        Tone.LEAD,
    )
    if isinstance(findings, Findings):
        inside = [_identity(findings), *_attributes(findings, audience), tables(findings, audience)]
        parts = [lead, _required(findings), *inside]
        return Section.of("Risk", "risk", parts)
    parts = [lead, _publicly_required(findings, audience), *_public_identity(findings, audience)]
    return Section.of("Risk", "risk", [*parts, *_attributes(findings, audience), tables(findings, audience)])


def _required(findings: Findings) -> Sheet | None:
    if not findings.requirements:
        return None
    headings = ("requirement", "required", "original", "release", "verdict", "source")
    rows = tuple(_row(required, findings.drawn_quasi) for required in findings.requirements)
    notes = (findings.without_drawn,) if findings.drawn_quasi else ()
    return Sheet("Privacy requirements", headings, rows, notes, words=6)


def _row(required: Required, drawn: Sequence[str]) -> tuple[str, ...]:
    """Return a requirement; if quasi-identifiers are ``drawn``, classes of the original have more of them."""
    before = "–" if required.before is None or drawn else required.before.attained
    return required.title, required.asked, before, required.attained, required.outcome, required.source


def _publicly_required(findings: PublicFindings, audience: Audience) -> Sheet | None:
    if not findings.requirements:
        return None
    rows = [
        (requirement.title, audience.asked(requirement.asked), requirement.outcome, requirement.source)
        for requirement in findings.requirements
    ]
    return Sheet("Privacy requirements", ("requirement", "required", "verdict", "source"), tuple(rows), words=4)


def _identity(findings: Findings) -> Section:
    before, after = findings.before, findings.risks
    if after is None:
        return Section.of("Identity disclosure", "identity", [Text(findings.without_classes, Tone.NOTE)])
    rows = []
    for name in ("prosecutor", "journalist", "marketer"):
        was, two = getattr(before, name), getattr(after, name)
        rows.append((name, *(odds(value) for value in (was.highest, two.highest, was.average, two.average)), two.basis))
    headings = (
        "adversary",
        "highest, original",
        "highest, release",
        "average, original",
        "average, release",
        "basis (release)",
    )
    limit, above = (
        odds(float(findings.threshold)),
        [share(assessment.prosecutor.share_above) for assessment in (before, after)],
    )
    many = [short(assessment.prosecutor.expected) for assessment in (before, after)]
    notes = (
        f"Risk above {limit}: {above[0]} of the {findings.who} in the original, {above[1]} in the release.",
        f"Expected re-identifications if all are targeted: {many[0]} in the original, {many[1]} in the release.",
    )
    sheet = Sheet("Re-identification risk", headings, tuple(rows), notes)
    pictures = [Figure(risks({"original": before, "release": after}, findings.threshold, least=1))]
    pictures.append(Figure(class_sizes(before, least=findings.least, name="Original")))
    if findings.people is not None:
        pictures += [Figure(heatmap(findings.people)), Figure(facts(findings.people))]
    revealing = None if findings.advice is None else findings.advice.revealing_sheet()
    return Section.of("Identity disclosure", "identity", [sheet, *pictures, revealing, _contributions(findings)])


def _public_identity(findings: PublicFindings, audience: Audience) -> Iterator[Section]:
    """Yield the risks of the released table, if its persons can be counted."""
    after = findings.risks
    if after is None:
        yield Section.of("Identity disclosure", "identity", [Text(findings.without_classes, Tone.NOTE)])
        return
    if not findings.countable:
        ours = "; the owner verified the requirements above before the subject column was removed"
        verified = ours if findings.ours else ""
        note = f"{findings.uncountable} Recipients can recount records, but not individuals{verified}."
        yield Section.of("Identity disclosure", "identity", [Text(note, Tone.NOTE)])
        return
    adversaries = (after.prosecutor, after.journalist, after.marketer)
    rows = [(risk.adversary, highest(risk, findings), audience.odds(risk.average), risk.basis) for risk in adversaries]
    limit = odds(float(findings.threshold))
    notes = (f"Risk above {limit}: {audience.share(after.prosecutor.above, after.persons)} of the {findings.who}.",)
    sheet = Sheet("Re-identification risk", ("adversary", "highest", "average", "basis"), tuple(rows), notes)
    parts: list[Sheet | Figure] = [sheet]
    above = after.prosecutor.above
    if not audience.hides(above) and not audience.hides(after.persons - above):
        parts.append(Figure(risks({"release": after}, findings.threshold, least=audience.smallest)))
    yield Section.of("Identity disclosure", "identity", parts)


def _contributions(findings: Findings) -> Sheet | None:
    """Return the contribution of each quasi-identifier to uniqueness in the original.

    It is shown as the number of unique persons if the column is removed, or generalised by one level.
    """
    contributions = findings.before.contributions
    if len(contributions) < 2:
        return None
    rows = [
        (
            contribution.column,
            f"{contribution.without.alone:,}",
            f"{contribution.without.k:,}",
            "–" if contribution.coarser is None else f"{contribution.coarser.alone:,}",
            "–" if contribution.coarser is None else f"{contribution.coarser.k:,}",
        )
        for contribution in contributions
    ]
    alone = f"{findings.before.sizes.get(1, 0):,} unique in the original"
    headings = ("variable", "unique if removed", "k", "unique if generalised one level", "k")
    notes = ("–: one level of generalisation suppresses all values, or no hierarchy is given.",)
    return Sheet(f"Contribution of each quasi-identifier ({alone})", headings, tuple(rows), notes)


def highest(risk: Risk, findings: PublicFindings) -> str:
    """Format the highest risk; a risk above the threshold is shown only as above it."""
    limit = float(findings.threshold)
    if risk.highest is not None and risk.highest > limit:
        return f"above {odds(limit)}"
    return odds(risk.highest)


def _attributes(findings: PublicFindings, audience: Audience) -> Iterator[Section | Text]:
    after = findings.risks
    if after is None:
        yield Text("Attribute disclosure is not assessed by classes, but by attacks.", Tone.NOTE)
        return
    if not after.attributes:
        why = "Missing values match any value" if findings.seen.sensitive else "No sensitive column is released"
        yield Text(f"{why}, so attribute disclosure is not assessed.", Tone.NOTE)
        return
    rows = (
        _both(findings.before, after, audience)
        if isinstance(findings, Findings)
        else _released(after, audience, findings.policy.perturbed, countable=findings.countable)
    )
    headings = _BOTH if isinstance(findings, Findings) else _RELEASED
    sheet = Sheet(
        "Correct inference of sensitive attributes", headings, tuple(rows), tuple(_explained(findings, after))
    )
    yield Section.of("Attribute disclosure", "attributes", [sheet])


def _explained(findings: PublicFindings, after: Assessment) -> Iterator[str]:
    """Yield the notes on the inference of sensitive attributes."""
    whole = "original" if isinstance(findings, Findings) else "release"
    yield f"Probability that the most frequent value of the class is the true value; baseline: the whole {whole}."
    if not findings.countable:
        yield "Records are counted, because the release has no subject column."
    elif after.counts_persons and after.persons < after.records:
        yield "An individual with several records has each of their values."
    perturbed = [name for name in findings.policy.perturbed if name in findings.released.sensitive]
    if perturbed:
        names = ", ".join(perturbed)
        yield (
            f"The true values of perturbed columns are used, not the released ones: {names}."
            if isinstance(findings, Findings)
            else f"Without the perturbed columns, whose true values recipients do not have: {names}."
        )
    if findings.split is not None:
        yield "Classes of the release are its buckets, divided by the quasi-identifiers in the table of the values."
    yield "In classes with a common value: all members of the class have this value. Missing is a value of its own."
    yield "The adversary is assumed to know the class of an individual. With local recoding, several classes may match."


def _released(
    after: Assessment, audience: Audience, perturbed: Collection[str], *, countable: bool
) -> Iterator[tuple[str, ...]]:
    """Yield the probability of a correct inference per sensitive column, in the release; not of perturbed columns."""
    for two in after.attributes:
        if two.column in perturbed:
            continue
        certain = audience.share(two.certain, after.persons) if countable else "not published"
        yield two.column, share(float(two.baseline)), share(float(two.average)), certain


def _both(before: Assessment, after: Assessment, audience: Audience) -> Iterator[tuple[str, ...]]:
    """Yield the probability of a correct inference per sensitive column, in the original and in the release."""
    known = {attribute.column: attribute for attribute in before.attributes}
    for two in after.attributes:
        was = known.get(two.column)
        yield (
            two.column,
            share(float((was or two).baseline)),
            "–" if was is None else share(float(was.average)),
            share(float(two.average)),
            "–" if was is None else audience.share(was.certain, before.persons),
            audience.share(two.certain, after.persons),
        )
