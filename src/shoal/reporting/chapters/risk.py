"""The risk of every person, before and after: to be found, and to have something learned about them."""

from collections.abc import Iterator

from shoal.assessment import Assessment
from shoal.charts.class_sizes import class_sizes
from shoal.charts.facts import facts
from shoal.charts.heatmap import heatmap
from shoal.charts.risks import risks
from shoal.reporting.audience import Audience
from shoal.reporting.document import Figure, Section, Text, Tone
from shoal.reporting.findings import Findings, Required
from shoal.risk.adversary import Risk
from shoal.sheet import Sheet
from shoal.words import odds


def risk(found: Findings, audience: Audience) -> Section:
    """Tell the risk requirement by requirement, and identity and attribute risk apart."""
    lead = Text(
        "Identity: can it be told which record is somebody's? Attribute: can something be learned about somebody, even "
        "if it cannot be told which record is theirs? A release can be safe in one way and not in the other.",
        Tone.LEAD,
    )
    parts = [lead, _required(found, audience), _identity(found, audience), *_attributes(found, audience)]
    return Section.of("Risk before and after", "risk", parts)


def _required(found: Findings, audience: Audience) -> Sheet | None:
    if not found.requirements:
        return None
    headings = ("requirement", "asked", "original", "release", "", "by")
    return Sheet(
        "Requirement by requirement", headings, tuple(_row(one, audience) for one in found.requirements), words=6
    )


def _row(one: Required, audience: Audience) -> tuple[str, ...]:
    before = "–" if one.before is None else one.before.says if audience.external else one.before.attained
    after = "–" if one.after is None else audience.attained(one.after)
    said = one.after.says if one.after is not None else "nothing to protect" if one.moot else "not judged"
    return one.title, audience.asked(one.asked), before, after, said, one.source


def _identity(found: Findings, audience: Audience) -> Section:
    before, after = found.before, found.after
    rows = []
    for name in ("prosecutor", "journalist", "marketer"):
        one, two = getattr(before, name), getattr(after, name)
        first = () if audience.external else (odds(one.average),)  # of the original, which others do not have
        most = (highest(one, found, audience), highest(two, found, audience))
        rows.append((name, *most, *first, audience.odds(two.average), two.basis))
    average = ("average",) if audience.external else ("average: original", "release")
    headings = ("adversary", "highest: original", "release", *average, "in the release")
    limit, above = odds(float(found.threshold)), [_above(one, audience) for one in (before, after)]
    told = [f"Above {limit}: {above[0]} of the original's {found.who}, {above[1]} of the release's."]
    if not audience.external:
        many = [f"{one.prosecutor.expected:,.1f}" for one in (before, after)]
        told.append(f"If all are tried, about {many[0]} are found in the original, {many[1]} in the release.")
    sheet = Sheet("How probable it is that a guess who somebody is, is right", headings, tuple(rows), tuple(told))
    return Section.of("Identity", "identity", [sheet, *_pictures(found, audience), _contributions(found, audience)])


def _contributions(found: Findings, audience: Audience) -> Sheet | None:
    """Tell which column of the original gives most persons away: how many would stand alone without it."""
    held = found.before.contributions
    if audience.external or len(held) < 2:
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


def highest(risk: Risk, found: Findings, audience: Audience) -> str:
    """Write the highest risk; others are told only whether it is above the limit."""
    limit = float(found.threshold)
    hidden = audience.external and risk.maximum > limit
    return f"above {odds(limit)}" if hidden else odds(risk.maximum)


def _above(one: Assessment, audience: Audience) -> str:
    told = audience.share(one.prosecutor.above, one.persons)
    return f"{one.prosecutor.share_above:.0%}" if audience.external and told.endswith("%") else told


def _pictures(found: Findings, audience: Audience) -> Iterator[Figure]:
    """Draw risks and class sizes; to others only of the release, which they have."""
    tables = {"release": found.after} if audience.external else {"original": found.before, "release": found.after}
    above = found.after.prosecutor.above
    if not audience.hides(above) and not audience.hides(found.after.persons - above):
        yield Figure(risks(tables, found.threshold, least=audience.told))  # counts, which are no secret by then
    if not audience.external:
        yield Figure(class_sizes(found.before, least=found.least))
        if found.people is not None:
            yield Figure(heatmap(found.people))
            yield Figure(facts(found.people))


def _attributes(found: Findings, audience: Audience) -> Iterator[Section | Text]:
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
    if audience.external:  # shares of the original would tell what those had who were left out
        headings = ("variable", "most frequent value of all", "of the class", "certain for")
        rows = [
            (
                one.column,
                f"{float(one.baseline):.1%}",
                f"{float(one.average):.1%}",
                audience.share(one.certain, found.after.persons),
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
