"""What an adversary really achieves against the release."""

from collections.abc import Iterator
from dataclasses import replace

from shoal import charts
from shoal.analyses.estimate import Estimate
from shoal.attacks.result import Result
from shoal.battery import Attacked
from shoal.reporting.audience import Audience
from shoal.reporting.document import Beside, Block, Facts, Figure, Listing, Section, Text, Tone
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
    blocks: list[Block] = [
        lead,
        Figure(charts.wp216(made)),
        Figure(charts.attacks(made)),
        _results(found, made, audience),
    ]
    blocks += [_meanings(made), Beside(tuple(_curves(made, audience))), *_notes(made, audience)]
    return Section.of("Attacks", "attacks", blocks)


def _told(found: Attacked, audience: Audience) -> Attacked:
    """Return what may be told: nothing about fewer targets than may be, and of few hits or misses only a bound."""
    kept = [one for one in found.results if not audience.hides(one.targets)]
    return replace(found, results=tuple(_bounded(one, audience) for one in kept))


def _bounded(one: Result, audience: Audience) -> Result:
    curve = tuple(replace(point, success=_bound(point.success, one.targets, audience)) for point in one.curve)
    notes = () if audience.external else one.notes
    return replace(one, success=_bound(one.success, one.targets, audience), curve=curve, notes=notes, persons=None)


def _bound(success: Estimate, targets: int, audience: Audience) -> Estimate:
    """Return a success as it is, or the bound that may be told instead."""
    hits = round(success.value * targets)
    few = min(audience.told / max(targets, 1), 1.0)
    if audience.hides(hits):
        return Estimate(few, 0.0, max(success.high, few))
    return Estimate(1 - few, min(success.low, 1 - few), 1.0) if audience.hides(targets - hits) else success


def _success(one: Result, audience: Audience) -> str:
    """Write a success; one that is a bound says so."""
    success, few = one.success, audience.told / max(one.targets, 1)
    if audience.external and (success.value, success.low) == (few, 0.0):
        return f"at most {success.value:.1%}"
    bound = audience.external and (success.value, success.high) == (1 - few, 1.0)
    return f"at least {success.value:.1%}" if bound else f"{success.value:.1%}"


def _results(all_found: Findings, found: Attacked, audience: Audience) -> Sheet:
    controlled = any(one.control is not None for one in found.results)
    everybody = all_found.before.persons if audience.hides(all_found.left_out) else None  # would tell who is left out
    rows = []
    for one in found.results:
        interval = f"{100 * one.success.low:.1f}–{100 * one.success.high:.1f}"
        control = () if not controlled else ("–" if one.control is None else f"{one.control.value:.1%}",)
        who, numbers = (
            f"{one.adversary}, {one.adversary.conduct}",
            (f"{one.lift:+.2f}", "all" if one.targets == everybody else f"{one.targets:,}"),
        )
        rows.append((one.title, who, _success(one, audience), interval, f"{one.baseline:.1%}", *control, *numbers))
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
