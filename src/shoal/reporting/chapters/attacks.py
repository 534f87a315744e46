"""What an adversary really achieves against the release."""

from collections.abc import Iterator, Sequence

from shoal import charts
from shoal.attacks.attack import ATTACKS
from shoal.attacks.battery import Attacked
from shoal.attacks.result import Result
from shoal.release.published import STEP, rounded
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
        asked = found.policy.publish is not None and found.policy.publish.attacks
        public = "The release was not attacked." if asked else "The owner publishes no results of attacks."
        return Section.of("Attacks", "attacks", [Text(own if isinstance(found, Findings) else public, Tone.NOTE)])
    lead = Text(
        "Success alone says nothing: it counts against what an adversary achieves without the release (baseline), and, "
        "where it was looked at, against the same attack on people who are not in the data (control).",
        Tone.LEAD,
    )
    meanings = _meanings(found.attacks)
    if not isinstance(found, Findings):  # charts and curves would show rates too finely
        parts = [answers(found.attacks), _published(found.attacks, audience), meanings, *_omitted(found.attacks)]
        return Section.of("Attacks", "attacks", [lead, *parts])
    charted = [Figure(charts.wp216(found.attacks)), Figure(charts.attacks(found.attacks))]
    curves = Beside(tuple(_curves(found.attacks)))
    parts = [*charted, _results(found.attacks), meanings, curves, *_notes(found.attacks)]
    return Section.of("Attacks", "attacks", [lead, *parts])


def _results(attacked: Attacked) -> Sheet:
    """Give the results of all attacks, for the owner."""
    controlled = any(one.control is not None for one in attacked.results)
    rows = []
    for one in attacked.results:
        control = "–" if one.control is None else f"{one.control.value:.1%}"
        rows.append(
            (
                *_about(one),
                f"{one.success.value:.1%}",
                f"{100 * one.success.low:.1f}–{100 * one.success.high:.1f}",
                f"{one.baseline:.1%}",
                *((control,) if controlled else ()),
                f"{one.lift:+.2f}",
                f"{one.targets:,}",
                _sure(one),
            )
        )
    control_heading = ("control",) if controlled else ()
    return _sheet(("success", "95 %", "baseline", *control_heading, "lift", "targets"), rows)


def _published(attacked: Attacked, audience: Audience) -> Sheet:
    """Give rounded results without the number of targets, which discloses how many persons are suppressed."""
    rows = []
    for one in attacked.results:
        if _is_small(one, audience):
            rows.append((*_about(one), "not told", "", "", "", _sure(one)))
            continue
        shares = (one.success.low, one.success.value, one.success.high, one.baseline)
        low, success, high, baseline = (f"{100 * rounded(share):.0f}" for share in shares)
        lift = f"{round(one.lift, 1) + 0.0:+.1f}"
        rows.append((*_about(one), f"{success} %", f"{low}–{high}", f"{baseline} %", lift, _sure(one)))
    note = f"Shares are rounded to multiples of {100 * STEP} %, lifts to one decimal."
    return _sheet(("success", "95 %", "baseline", "lift"), rows, note)


def _sheet(figures: tuple[str, ...], rows: Sequence[tuple[str, ...]], *notes: str) -> Sheet:
    meanings = (
        "Lift: the share of what the baseline leaves open that the attack gains.",
        "Surely: whether it is more than baseline and control, and not by chance.",
    )
    headings = ("attack", "adversary", *figures, "surely")
    return Sheet("What each attack achieves", headings, tuple(rows), (*meanings, *notes), words=2)


def _about(one: Result) -> tuple[str, str]:
    return one.title, f"{one.adversary}, {one.adversary.conduct}"


def _sure(one: Result) -> str:
    return "yes" if one.is_sure else "no"


def _is_small(one: Result, audience: Audience) -> bool:
    """Return whether too few persons were attacked, hit or missed to publish a share."""
    hits = round(one.success.value * one.targets)
    return any(audience.hides(number) for number in (one.targets, hits, one.targets - hits))


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
