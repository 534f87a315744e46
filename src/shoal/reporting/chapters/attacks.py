"""What an adversary really achieves against the release."""

from collections.abc import Iterator
from dataclasses import replace

from shoal import charts
from shoal.analyses.estimate import Estimate
from shoal.attacks.attack import ATTACKS
from shoal.attacks.result import Result
from shoal.battery import Attacked
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.summary import answers
from shoal.reporting.document import Beside, Block, Facts, Figure, Listing, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.sheet import Sheet

MOST = 8  # curves that are drawn


def attacks(found: PublicFindings, audience: Audience) -> Section:
    """Tell what came of the attacks, each with its baseline and its interval."""
    if found.attacks is None or not found.attacks.results:
        own = "The release was not attacked. Numbers of a model are not what an adversary achieves."
        public = "The owner publishes no results of attacks."
        return Section.of("Attacks", "attacks", [Text(own if isinstance(found, Findings) else public, Tone.NOTE)])
    made = _told(found.attacks, audience)
    best = [one for one in found.attacks.card().values() if one is not None]
    vague = audience.external
    plain = not any(_hidden(one, audience) or (audience.external and one.control is not None) for one in best)
    card = Figure(audience.chart(charts.wp216(found.attacks), vague=vague)) if plain else answers(found.attacks)
    bars = Figure(audience.chart(charts.attacks(made), vague=vague)) if made.results else None
    lead = Text(
        "Success alone says nothing: it counts against what an adversary achieves without the release (baseline), and, "
        "where it was looked at, against the same attack on people who are not in the data (control).",
        Tone.LEAD,
    )
    blocks: list[Block | None] = [lead, card, bars, _results(found, audience)]
    blocks += [
        _meanings(found.attacks),
        Beside(tuple(_curves(made, audience, vague=vague))),
        *_notes(found.attacks, audience),
    ]
    return Section.of("Attacks", "attacks", blocks)


def _hidden(one: Result, audience: Audience) -> bool:
    """Tell whether so few were tried, hit or missed that it is not told how many."""
    return audience.hides(one.targets) or _few(one.success, one.targets, audience)


def _few(success: Estimate, targets: int, audience: Audience) -> bool:
    hits = round(success.value * targets)
    return audience.hides(hits) or audience.hides(targets - hits)


def _told(found: Attacked, audience: Audience) -> Attacked:
    """Return what may be drawn: nothing about few who were tried, hit or missed."""
    kept = [_without_few(one, audience) for one in found.results if not _hidden(one, audience)]
    return replace(found, results=tuple(kept))


def _without_few(one: Result, audience: Audience) -> Result:
    """Leave out points of a curve at which few were hit or missed."""
    curve = tuple(point for point in one.curve if not _few(point.success, one.targets, audience))
    control = None if audience.external else one.control  # of few strangers
    return replace(one, curve=curve, control=control, persons=None, notes=() if audience.external else one.notes)


def _results(found: PublicFindings, audience: Audience) -> Sheet | None:
    tried = () if found.attacks is None else found.attacks.results
    controlled = not audience.external and any(one.control is not None for one in tried)
    vague = audience.external  # exact numbers would tell how many were suppressed, and what they had
    rows = []
    for one in tried:
        who = f"{one.adversary}, {one.adversary.conduct}"
        rows.append((one.title, who, *_numbers(one, audience, vague=vague, controlled=controlled)))
    more = ("control",) if controlled else ()
    tried_on = () if vague else ("targets",)  # with the released records, they would tell how many were suppressed
    headings = ("attack", "adversary", "success", "95 %", "baseline", *more, "lift", *tried_on, "surely")
    notes = [
        "Lift: the share of what the baseline leaves open that the attack gains.",
        "Surely: whether it is more than baseline and control, and not by chance.",
    ]
    if vague:
        notes.append("Shares are rounded to whole per cent, lifts to one decimal.")
    return Sheet("What each attack achieves", headings, tuple(rows), tuple(notes), words=2)


def _numbers(one: Result, audience: Audience, *, vague: bool, controlled: bool) -> tuple[str, ...]:
    """Write what an attack achieves; of few who were tried, hit or missed only whether it is surely something."""
    sure, control = "yes" if one.is_sure else "no", "–" if one.control is None else f"{one.control.value:.1%}"
    if _hidden(one, audience):
        return ("not told", "", "", *(("",) if controlled else ()), "", *(() if vague else ("",)), sure)
    digits = 0 if vague else 1
    return (
        f"{one.success.value:.{digits}%}",
        f"{100 * one.success.low:.{digits}f}–{100 * one.success.high:.{digits}f}",
        f"{one.baseline:.{digits}%}",
        *((control,) if controlled else ()),
        f"{round(one.lift, 1) + 0.0:+.1f}" if vague else f"{one.lift:+.2f}",
        *(() if vague else (f"{one.targets:,}",)),
        sure,
    )


def _meanings(found: Attacked) -> Facts:
    said = {f"{one.attack} ({one.variant})" if one.variant else one.attack: one.says for one in found.results}
    return Facts(tuple((name, f"Success: {says}.") for name, says in said.items()))


def _curves(found: Attacked, audience: Audience, *, vague: bool) -> Iterator[Figure]:
    drawn = [one for one in found.results if len(one.curve) > 1]
    drawn = sorted(drawn, key=lambda one: -one.lift)[: MOST // 2 if audience.external else MOST]
    for one in drawn:
        yield Figure(audience.chart(charts.knowledge(one), vague=vague))


def _notes(found: Attacked, audience: Audience) -> Iterator[Block]:
    asked = {one.attack for one in found.results} | set(found.left_out)
    others = [name for name in ATTACKS if ATTACKS[name].default and name not in asked]
    if others:
        yield Text(f"Not asked for: {', '.join(others)}.", Tone.NOTE)
    if found.left_out:
        yield Facts(tuple((f"Not tried: {name}", why) for name, why in found.left_out.items()))
    if not audience.external:  # they count records
        told = [*found.notes, *(f"{one.title}: {note}" for one in found.results for note in one.notes)]
        yield Listing((*dict.fromkeys(told), f"Drawn with seed {found.seed}."))
