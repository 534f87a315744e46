"""Chapter on the choice of the release: the search and its alternatives."""

from collections.abc import Iterator

from shoal.analyses.technique_comparison import TechniqueComparison
from shoal.charts.frontier import frontier
from shoal.charts.lattice import lattice
from shoal.charts.techniques import techniques
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.document import Block, Facts, Figure, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.techniques.technique import Gives
from shoal.words import share, short

_NO_ALTERNATIVES = "No alternatives to this release were tried, because no time was given for them."


@chapter("choice", place=50)
def choice(findings: PublicFindings, audience: Audience) -> Section:
    """Describe the search for the release and the cost of other levels of protection."""
    if not isinstance(findings, Findings):
        return Section.of("Choice of the release", "choice", [_lead(findings), _classes(findings)])
    blocks: list[Block | None] = [_lead(findings), _search(findings, audience)]
    if not _is_of_schemes(findings) and (findings.schemes is not None or findings.frontier is not None):
        blocks.append(
            Text(
                "The charts show schemes of global recoding. The release uses another technique and is not among them."
            )
        )
    if findings.advice is not None:
        alternatives = findings.advice.alternatives_sheet()
        blocks += [findings.advice.lost_sheet(), alternatives or Text(_NO_ALTERNATIVES, Tone.NOTE)]
    if findings.techniques is not None:
        blocks += technique_blocks(findings.techniques)
    if findings.schemes is not None:
        blocks.append(Figure(lattice(findings.schemes)))
    if findings.frontier is not None and any(point.price is not None for point in findings.frontier.points):
        blocks.append(Figure(frontier(findings.frontier)))
    return Section.of("Choice of the release", "choice", blocks)


def technique_blocks(comparison: TechniqueComparison) -> Iterator[Block]:
    """Yield the figures of all techniques that are possible with the table, and their chart."""
    yield comparison.sheet()
    if any(each.error is not None for each in comparison.figures):
        yield Figure(techniques(comparison))


def _lead(findings: PublicFindings) -> Text:
    if not findings.ours:
        return Text("The way in which this release was made is not recorded.", Tone.LEAD)
    if not findings.released.quasi:
        return Text("All quasi-identifiers are perturbed, so no generalisation was searched.", Tone.LEAD)
    how = findings.policy.search
    limit = f"At most {share(how.suppression)} of the {findings.who} may be suppressed."
    aim = "minimises information loss" if Gives.SCHEME in how.technique.gives else "seeks a low information loss"
    sought = f" The search {aim} (measure: {how.quality})." if how.technique.minds_quality else ""
    return Text(f"{how.technique.says}{sought} {limit}", Tone.LEAD)


def _search(findings: Findings, audience: Audience) -> Facts | None:
    if findings.part is None or not findings.released.quasi:
        return None
    account = findings.policy.search.technique.account(findings.part.transformation.facts)
    facts = [("Search", account)] if account else []
    if findings.part.scheme:
        scheme = {name: level for name, level in findings.part.scheme.items() if name in findings.variables}
        levels = ", ".join(f"{name} {level}" for name, level in scheme.items())
        facts += [("Levels", levels)] if levels else []
    facts += _outliers(findings, audience)
    facts += [] if findings.after is None else [("Equivalence classes", f"{findings.part.classes:,}")]
    quality = findings.policy.search.quality
    cost = findings.part.quality[quality].total if quality in findings.part.quality else None
    if cost is not None:
        facts.append(("Information loss", f"{short(cost.cost)} (0 = no loss, 1 = total; measure: {quality})"))
    return Facts(tuple(facts))


def _classes(findings: PublicFindings) -> Facts | None:
    if findings.after is None:
        return None
    return Facts((("Equivalence classes", f"{findings.after.classes:,}"),))


def _outliers(findings: Findings, audience: Audience) -> list[tuple[str, str]]:
    """Return the number of records moved or added by the treatment of outliers."""
    numbers = {} if findings.part is None else findings.part.transformation.outliers
    return [
        ("Outliers", f"{audience.count(int(numbers[name]))} {text}")
        for name, text in findings.policy.search.way.counts.items()
        if name in numbers
    ]


def _is_of_schemes(findings: PublicFindings) -> bool:
    known = isinstance(findings, Findings) and findings.part is not None and bool(findings.part.scheme)
    return known or Gives.SCHEME in findings.policy.search.technique.gives
