"""How the release was found: what else could have been had."""

from shoal.charts.frontier import frontier
from shoal.charts.lattice import lattice
from shoal.errors import counted
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.document import Block, Facts, Figure, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.techniques.technique import Gives


@chapter("choice", place=50)
def choice(findings: PublicFindings, audience: Audience) -> Section:
    """Tell how the release was searched for, and what other levels of protection would cost."""
    if not isinstance(findings, Findings):
        return Section.of("How the release was chosen", "choice", [_lead(findings), _classes(findings)])
    blocks: list[Block | None] = [_lead(findings), _search(findings, audience)]
    if not _is_of_schemes(findings) and (findings.schemes is not None or findings.frontier is not None):
        blocks.append(
            Text(
                "The charts show schemes of global recoding. The release uses another recoding and is in none of them."
            )
        )
    if findings.schemes is not None:
        blocks.append(Figure(lattice(findings.schemes)))
    if findings.frontier is not None and any(point.price is not None for point in findings.frontier.points):
        blocks.append(Figure(frontier(findings.frontier)))
    return Section.of("How the release was chosen", "choice", blocks)


def _lead(findings: PublicFindings) -> Text:
    if not findings.ours:
        return Text("It is not recorded how this release was made.", Tone.LEAD)
    how = findings.policy.search
    limit = f"At most {how.suppression:.1%} of the {findings.who} may be left out."
    sought = f" What is to be lost least is measured by {how.quality}." if how.technique.minds_quality else ""
    return Text(f"{how.technique.says}{sought} {limit}", Tone.LEAD)


def _search(findings: Findings, audience: Audience) -> Facts | None:
    if findings.release is None:
        return None
    account = findings.policy.search.technique.account(findings.release.part.transformation.facts)
    facts = [("Search", account)] if account else []
    if findings.release.scheme:
        levels = ", ".join(f"{name} {level}" for name, level in findings.release.scheme.items())
        facts.append(("Levels", levels))
    facts += _outliers(findings, audience)
    facts.append(("Classes", counted(findings.release.classes, "group") + " of persons who look alike"))
    cost = findings.release.quality[findings.policy.search.quality].total
    if cost is not None:
        facts.append(("Cost", f"{cost.cost:.3f} of what there is to lose, by {findings.policy.search.quality}"))
    return Facts(tuple(facts))


def _classes(findings: PublicFindings) -> Facts:
    return Facts((("Equivalence classes", f"{findings.after.classes:,}"),))


def _outliers(findings: Findings, audience: Audience) -> list[tuple[str, str]]:
    """Say how many were moved or invented."""
    numbers = {} if findings.release is None else findings.release.part.transformation.outliers
    return [
        ("Outliers", f"{audience.count(int(numbers[name]))} {text}")
        for name, text in findings.policy.search.way.counts.items()
        if name in numbers
    ]


def _is_of_schemes(findings: PublicFindings) -> bool:
    known = isinstance(findings, Findings) and findings.release is not None and bool(findings.release.scheme)
    return known or Gives.SCHEME in findings.policy.search.technique.gives
