"""The risk of every person, before and after: to be found, and to have something learned about them."""

from collections.abc import Iterator

from shoal.charts.class_sizes import class_sizes
from shoal.charts.facts import facts
from shoal.charts.heatmap import heatmap
from shoal.charts.risks import risks
from shoal.reporting.audience import Audience
from shoal.reporting.document import Figure, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings, Required
from shoal.risk.adversary import Risk
from shoal.sheet import Sheet
from shoal.words import odds


def risk(found: PublicFindings, audience: Audience) -> Section:
    """Tell the risk requirement by requirement, and identity and attribute risk apart."""
    lead = Text(
        "Identity: can it be told which record is somebody's? Attribute: can something be learned about somebody, even "
        "if it cannot be told which record is theirs? A release can be safe in one way and not in the other.",
        Tone.LEAD,
    )
    if isinstance(found, Findings):
        parts = [lead, _required(found), _identity(found), *_attributes(found, audience)]
        return Section.of("Risk before and after", "risk", parts)
    parts = [lead, _publicly_required(found, audience), *_public_identity(found, audience)]
    return Section.of("Risk", "risk", [*parts, *_attributes(found, audience)])


def _required(found: Findings) -> Sheet | None:
    if not found.requirements:
        return None
    headings = ("requirement", "asked", "original", "release", "", "by")
    return Sheet("Requirement by requirement", headings, tuple(map(_row, found.requirements)), words=6)


def _row(one: Required) -> tuple[str, ...]:
    before = "–" if one.before is None else one.before.attained
    after = "–" if one.after is None else one.after.attained
    return one.title, one.asked, before, after, _verdict(one), one.source


def _verdict(one: Required) -> str:
    return one.after.says if one.after is not None else "nothing to protect" if one.moot else "not judged"


def _publicly_required(found: PublicFindings, audience: Audience) -> Sheet | None:
    if not found.requirements:
        return None
    rows = [(one.title, audience.asked(one.asked), _verdict(one), one.source) for one in found.requirements]
    return Sheet("Privacy requirements", ("requirement", "asked", "verdict", "required by"), tuple(rows), words=4)


def _identity(found: Findings) -> Section:
    before, after = found.before, found.after
    rows = []
    for name in ("prosecutor", "journalist", "marketer"):
        one, two = getattr(before, name), getattr(after, name)
        rows.append((name, *(odds(value) for value in (one.maximum, two.maximum, one.average, two.average)), two.basis))
    headings = ("adversary", "highest: original", "release", "average: original", "release", "in the release")
    limit, above = odds(float(found.threshold)), [f"{one.prosecutor.share_above:.1%}" for one in (before, after)]
    many = [f"{one.prosecutor.expected:,.1f}" for one in (before, after)]
    notes = (
        f"Above {limit}: {above[0]} of the original's {found.who}, {above[1]} of the release's.",
        f"If all are tried, about {many[0]} are found in the original, {many[1]} in the release.",
    )
    sheet = Sheet("How probable it is that a guess who somebody is, is right", headings, tuple(rows), notes)
    pictures = [Figure(risks({"original": before, "release": after}, found.threshold, least=1))]
    pictures.append(Figure(class_sizes(before, least=found.least)))
    if found.people is not None:
        pictures += [Figure(heatmap(found.people)), Figure(facts(found.people))]
    return Section.of("Identity", "identity", [sheet, *pictures, _contributions(found)])


def _public_identity(found: PublicFindings, audience: Audience) -> Iterator[Section]:
    """Give the risks of the released table, where its persons can be counted."""
    if not found.countable:
        verified = "; the requirements above were verified when it was made" if found.ours else ""
        told = f"{found.uncountable} The size of classes in persons cannot be counted in it{verified}."
        yield Section.of("Identity", "identity", [Text(told, Tone.NOTE)])
        return
    after = found.after
    adversaries = (after.prosecutor, after.journalist, after.marketer)
    rows = [(one.adversary, highest(one, found), audience.odds(one.average), one.basis) for one in adversaries]
    limit = odds(float(found.threshold))
    notes = (f"Risk above {limit}: {audience.share(after.prosecutor.above, after.persons)} of the {found.who}.",)
    sheet = Sheet("Re-identification risk", ("adversary", "highest", "average", "basis"), tuple(rows), notes)
    parts: list[Sheet | Figure] = [sheet]
    above = after.prosecutor.above
    if not audience.hides(above) and not audience.hides(after.persons - above):
        parts.append(Figure(risks({"release": after}, found.threshold, least=audience.told)))
    yield Section.of("Identity", "identity", parts)


def _contributions(found: Findings) -> Sheet | None:
    """Tell which column of the original gives most persons away: how many would stand alone without it."""
    held = found.before.contributions
    if len(held) < 2:
        return None
    rows = [
        (
            one.column,
            f"{one.without.alone:,}",
            f"{one.without.k:,}",
            "–" if one.coarser is None else f"{one.coarser.alone:,}",
            "–" if one.coarser is None else f"{one.coarser.k:,}",
        )
        for one in held
    ]
    alone = f"{found.before.sizes.get(1, 0):,} stand alone as the original is"
    headings = ("variable", "alone without it", "k", "alone one level coarser", "k")
    return Sheet(f"What each variable gives away: {alone}", headings, tuple(rows))


def highest(risk: Risk, found: PublicFindings) -> str:
    """Write the highest risk; above the threshold only that it is above."""
    limit = float(found.threshold)
    return f"above {odds(limit)}" if risk.maximum > limit else odds(risk.maximum)


def _attributes(found: PublicFindings, audience: Audience) -> Iterator[Section | Text]:
    if not found.after.attributes:
        why = "No sensitive column is released" if not found.seen.sensitive else "Missing values match anything"
        yield Text(f"{why}, so nothing is said about attribute risk.", Tone.NOTE)
        return
    told = (
        "How often a guess is right that names the most frequent value of somebody's class; without the data: of all.",
        "Certain for: persons in whose class all have the same value. A missing value counts as one.",
    )
    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]
    if not isinstance(found, Findings):
        headings = ("variable", "most frequent value of all", "of the class", "certain for")
        rows = [
            (
                one.column,
                f"{float(one.baseline):.1%}",
                f"{float(one.average):.1%}",
                audience.share(one.certain, found.after.persons) if found.countable else "not told",
            )
            for one in found.after.attributes
        ]
    else:
        headings = ("variable", "without the data", "original", "release", "certain for: original", "release")
        rows = list(_both(found, audience))
    yield Section.of("Attributes", "attributes", [Sheet("How often a guess is right", headings, tuple(rows), told)])


def _both(found: Findings, audience: Audience) -> Iterator[tuple[str, ...]]:
    """Tell of each sensitive column how often a guess is right, before and after."""
    before = {one.column: one for one in found.before.attributes}
    for two in found.after.attributes:
        one = before.get(two.column)
        yield (
            two.column,
            f"{float((one or two).baseline):.1%}",
            "–" if one is None else f"{float(one.average):.1%}",
            f"{float(two.average):.1%}",
            "–" if one is None else audience.share(one.certain, found.before.persons),
            audience.share(two.certain, found.after.persons),
        )
