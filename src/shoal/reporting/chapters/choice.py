"""How the release was found: what else could have been had."""

from shoal.charts.frontier import frontier
from shoal.charts.lattice import lattice
from shoal.errors import counted
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.methods import explained
from shoal.reporting.document import Block, Facts, Figure, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.treatments.treatment import TREATMENTS


def choice(found: PublicFindings, audience: Audience) -> Section:
    """Tell how the release was searched for, and what other levels of protection would cost."""
    if not isinstance(found, Findings):
        return Section.of("How the release was chosen", "choice", [_lead(found), _classes(found)])
    blocks: list[Block | None] = [_lead(found), _search(found, audience)]
    if found.policy.search.recoding != "global" and (found.schemes is not None or found.frontier is not None):
        blocks.append(
            Text(
                "The charts show schemes of global recoding. The release uses another recoding and is in none of them."
            )
        )
    if found.schemes is not None:
        blocks.append(Figure(lattice(found.schemes)))
    if found.frontier is not None and any(point.price is not None for point in found.frontier.points):
        blocks.append(Figure(frontier(found.frontier)))
    return Section.of("How the release was chosen", "choice", blocks)


def _lead(found: PublicFindings) -> Text:
    if not found.ours:
        return Text("It is not recorded how this release was made.", Tone.LEAD)
    how = found.policy.search
    limit = f"At most {how.suppression:.1%} of the {found.who} may be left out."
    found_by = _RECODINGS.get(how.recoding) or explained(TREATMENTS[how.recoding])
    return Text(f"{found_by} What is to be lost least is measured by {how.quality}. {limit}", Tone.LEAD)


def _search(found: Findings, audience: Audience) -> Facts | None:
    if found.release is None:
        return None
    search, facts = found.release.internal["search"], []
    if "schemes" in search:
        facts.append(("Schemes", f"{search['schemes']:,} ways to make columns coarser were to be had"))
    if "gap" in search:
        gap = float(search["gap"])
        proved = "proved: no scheme costs less" if not gap else f"no scheme costs less by more than {gap:.2%}"
        facts.append(("Best", proved))
    if found.release.scheme:
        levels = ", ".join(f"{name} {level}" for name, level in found.release.scheme.items())
        facts.append(("Levels", levels))
    facts += _outliers(found, audience)
    facts.append(("Classes", counted(found.release.classes, "group") + " of persons who look alike"))
    cost = found.release.quality[found.policy.search.quality].total
    if cost is not None:
        facts.append(("Cost", f"{cost.cost:.3f} of what there is to lose, by {found.policy.search.quality}"))
    return Facts(tuple(facts))


def _classes(found: PublicFindings) -> Facts:
    return Facts((("Equivalence classes", f"{found.after.classes:,}"),))


def _outliers(found: Findings, audience: Audience) -> list[tuple[str, str]]:
    """Say how many were moved or invented."""
    held = {} if found.release is None else found.release.facts["outliers"]
    says = {
        "moved": "persons show the nearest class",
        "counterfeits": "records are invented",
        "cells": "values are lost",
    }
    return [("Outliers", f"{audience.count(int(held[name]))} {told}") for name, told in says.items() if name in held]


_RECODINGS = {
    "global": "All records are made coarser alike (global recoding), by the best of all schemes.",
    "local": "Each record is made as little coarser as it needs (local recoding).",
    "mondrian": "Records are cut into ever smaller groups at medians (Mondrian).",
    "suppression": "Values are left out one by one, where too few persons look alike.",
    "subsets": "Records are made coarser until enough persons look alike to whoever knows a few columns.",
}
