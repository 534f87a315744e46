"""What an adversary really achieves against the release."""

from collections.abc import Iterator

from shoal import charts
from shoal.attacks.attack import ATTACKS
from shoal.attacks.result import Result
from shoal.battery import Attacked
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.summary import answers
from shoal.reporting.document import Beside, Block, Facts, Figure, Listing, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.sheet import Sheet

MOST = 8  # curves that are drawn
_STEP = 5  # per cent, to which published shares are rounded: finer ones show how many were suppressed


def attacks(found: PublicFindings, audience: Audience) -> Section:
    """Tell what came of the attacks, each with its baseline and its interval."""
    if found.attacks is None or not found.attacks.results:
        own = "The release was not attacked. Numbers of a model are not what an adversary achieves."
        public = "The owner publishes no results of attacks."
        return Section.of("Attacks", "attacks", [Text(own if isinstance(found, Findings) else public, Tone.NOTE)])
    lead = Text(
        "Success alone says nothing: it counts against what an adversary achieves without the release (baseline), and, "
        "where it was looked at, against the same attack on people who are not in the data (control).",
        Tone.LEAD,
    )
    rest = [_results(found, audience), _meanings(found.attacks)]
    if not isinstance(found, Findings):  # charts and curves would show rates too finely
        return Section.of("Attacks", "attacks", [lead, answers(found.attacks), *rest, *_omitted(found.attacks)])
    charted = [Figure(charts.wp216(found.attacks)), Figure(charts.attacks(found.attacks))]
    curves = Beside(tuple(_curves(found.attacks)))
    return Section.of("Attacks", "attacks", [lead, *charted, *rest, curves, *_notes(found.attacks)])


def _hidden(one: Result, audience: Audience) -> bool:
    """Tell whether so few were tried, hit or missed that it is not told how many."""
    hits = round(one.success.value * one.targets)
    return any(audience.hides(number) for number in (one.targets, hits, one.targets - hits))


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
        notes.append(f"Shares are rounded to multiples of {_STEP} %, lifts to one decimal.")
    return Sheet("What each attack achieves", headings, tuple(rows), tuple(notes), words=2)


def _numbers(one: Result, audience: Audience, *, vague: bool, controlled: bool) -> tuple[str, ...]:
    """Write what an attack achieves; of few who were tried, hit or missed only whether it is surely something."""
    sure, control = "yes" if one.is_sure else "no", "–" if one.control is None else f"{one.control.value:.1%}"
    if _hidden(one, audience):
        return ("not told", "", "", *(("",) if controlled else ()), "", *(() if vague else ("",)), sure)
    if vague:
        low, success, high, baseline = (
            f"{_STEP * round(100 * share / _STEP)}"
            for share in (one.success.low, one.success.value, one.success.high, one.baseline)
        )
        return f"{success} %", f"{low}–{high}", f"{baseline} %", f"{round(one.lift, 1) + 0.0:+.1f}", sure
    return (
        f"{one.success.value:.1%}",
        f"{100 * one.success.low:.1f}–{100 * one.success.high:.1f}",
        f"{one.baseline:.1%}",
        *((control,) if controlled else ()),
        f"{one.lift:+.2f}",
        f"{one.targets:,}",
        sure,
    )


def _meanings(found: Attacked) -> Facts:
    said = {f"{one.attack} ({one.variant})" if one.variant else one.attack: one.says for one in found.results}
    return Facts(tuple((name, f"Success: {says}.") for name, says in said.items()))


def _curves(found: Attacked) -> Iterator[Figure]:
    drawn = [one for one in found.results if len(one.curve) > 1]
    for one in sorted(drawn, key=lambda one: -one.lift)[:MOST]:
        yield Figure(charts.knowledge(one))


def _omitted(found: Attacked) -> Iterator[Block]:
    """List the attacks that were not run, and why."""
    asked = {one.attack for one in found.results} | set(found.left_out)
    others = [name for name in ATTACKS if ATTACKS[name].default and name not in asked]
    if others:
        yield Text(f"Not asked for: {', '.join(others)}.", Tone.NOTE)
    if found.left_out:
        yield Facts(tuple((f"Not tried: {name}", why) for name, why in found.left_out.items()))


def _notes(found: Attacked) -> Iterator[Block]:
    yield from _omitted(found)
    notes = [*found.notes, *(f"{one.title}: {note}" for one in found.results for note in one.notes)]
    yield Listing((*dict.fromkeys(notes), f"Drawn with seed {found.seed}."))
