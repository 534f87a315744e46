"""What an adversary really achieves against the release."""

from collections.abc import Iterator
from dataclasses import replace

from shoal import charts
from shoal.analyses.estimate import Estimate
from shoal.attacks.result import Result
from shoal.battery import Attacked
from shoal.reporting.audience import Audience
from shoal.reporting.document import Block, Facts, Figure, Listing, Section, Text, Tone
from shoal.reporting.findings import Findings
from shoal.sheet import Sheet

MOST = 8  # curves that are drawn


def attacks(found: Findings, audience: Audience) -> Section:
    """Tell what came of the attacks, each with its baseline and its interval."""
    if found.attacks is None or not found.attacks.results:
        nothing = Text(
            "The release was not attacked. Numbers of a model are not what an adversary achieves.", Tone.NOTE
        )
        return Section.of("Attacks", "attacks", [nothing])
    made = _told(found.attacks, audience)
    lead = Text(
        "Success alone says nothing: it counts against what an adversary achieves without the release (baseline), and, "
        "where it was looked at, against the same attack on people who are not in the data (control).",
        Tone.LEAD,
    )
    blocks: list[Block] = [lead, Figure(charts.wp216(made)), Figure(charts.attacks(made)), _results(made, audience)]
    blocks += [_meanings(made), *_curves(made, audience), *_notes(made, audience)]
    return Section.of("Attacks", "attacks", blocks)


def _told(found: Attacked, audience: Audience) -> Attacked:
    """Return what may be told: if fewer persons were hit than may be, only that it were at most so many."""
    return replace(found, results=tuple(_bounded(one, audience) for one in found.results))


def _hits(one: Result) -> int:
    return round(one.success.value * one.targets)


def _bounded(one: Result, audience: Audience) -> Result:
    curve = tuple(
        point
        if not audience.hides(round(point.success.value * one.targets))
        else replace(point, success=_at_most(point.success, one.targets, audience))
        for point in one.curve
    )
    held = replace(one, curve=curve, persons=None, details={}, notes=() if audience.external else one.notes)
    return replace(held, success=_at_most(one.success, one.targets, audience)) if audience.hides(_hits(one)) else held


def _at_most(success: Estimate, targets: int, audience: Audience) -> Estimate:
    bound = min(audience.least / targets, 1.0)
    return Estimate(bound, 0.0, max(success.high, bound))


def _results(found: Attacked, audience: Audience) -> Sheet:
    controlled = any(one.control is not None for one in found.results)
    rows = []
    for one in found.results:
        interval = f"{100 * one.success.low:.1f}–{100 * one.success.high:.1f}"
        bounded = audience.external and _hits(one) == audience.least and not one.success.low
        success = f"at most {one.success.value:.1%}" if bounded else f"{one.success.value:.1%}"
        control = () if not controlled else ("–" if one.control is None else f"{one.control.value:.1%}",)
        who = f"{one.adversary}, {one.adversary.conduct}"
        rows.append(
            (one.title, who, success, interval, f"{one.baseline:.1%}", *control, f"{one.lift:+.2f}", f"{one.targets:,}")
        )
    headings = (
        "attack",
        "adversary",
        "success",
        "95 %",
        "baseline",
        *(("control",) if controlled else ()),
        "lift",
        "targets",
    )
    told = ("Lift: the share of what the baseline leaves open that the attack gains.",)
    return Sheet("What each attack achieves", headings, tuple(rows), told, words=2)


def _meanings(found: Attacked) -> Facts:
    said = {f"{one.attack} ({one.variant})" if one.variant else one.attack: one.says for one in found.results}
    return Facts(tuple((name, f"Success: {says}.") for name, says in said.items()))


def _curves(found: Attacked, audience: Audience) -> Iterator[Figure]:
    drawn = [one for one in found.results if len(one.curve) > 1]
    drawn = sorted(drawn, key=lambda one: -one.lift)[: MOST // 2 if audience.external else MOST]
    for one in drawn:
        yield Figure(charts.knowledge(one))


def _notes(found: Attacked, audience: Audience) -> Iterator[Block]:
    if found.left_out:
        yield Facts(tuple((f"Not tried: {name}", why) for name, why in found.left_out.items()))
    if not audience.external:  # they count records
        told = [*found.notes, *(f"{one.title}: {note}" for one in found.results for note in one.notes)]
        yield Listing((*dict.fromkeys(told), f"Drawn with seed {found.seed}."))
