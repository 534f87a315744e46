"""Chapter on attacks against the release."""

from collections.abc import Iterator, Sequence

from shoal import charts
from shoal.attacks.attack import ATTACKS
from shoal.attacks.battery import Attacked
from shoal.attacks.result import Result
from shoal.release.published import PRECISION, rounded, widened
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.chapters.summary import answers
from shoal.reporting.document import Beside, Block, Facts, Figure, Listing, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.sheet import Sheet
from shoal.words import share as share_of
from shoal.words import short

MOST = 8  # maximum number of curves drawn


@chapter("attacks", place=80)
def attacks(findings: PublicFindings, audience: Audience) -> Section:
    """Report the results of the attacks, each with its baseline and its interval."""
    if findings.attacks is None or not findings.attacks.results:
        own = "No attack was run. Privacy models do not measure what an adversary achieves."
        asked = findings.policy.publish is not None and findings.policy.publish.attacks
        public = "No attack was run." if asked else "The owner publishes no results of attacks."
        note = Text(own if isinstance(findings, Findings) else public, Tone.NOTE)
        reasons = [] if findings.attacks is None else _omitted(findings.attacks)
        return Section.of("Attacks", "attacks", [note, *reasons])
    lead = Text(
        "The success of an attack is compared with its baseline (see Methods) and, where measured, with the same "
        "attack on individuals outside the data (control group).",
        Tone.LEAD,
    )
    meanings = _meanings(findings.attacks)
    if not isinstance(findings, Findings):  # charts and curves would show rates too precisely
        parts = [
            answers(findings.attacks, audience),
            *_off_card(findings.attacks),
            _published(findings.attacks, audience),
            meanings,
            *_omitted(findings.attacks),
        ]
        return Section.of("Attacks", "attacks", [lead, *parts])
    card: list[Block] = [Figure(charts.wp216(findings.attacks)), *_off_card(findings.attacks)]
    charted = [*card, Figure(charts.attacks(findings.attacks))]
    curves = Beside(tuple(_curves(findings.attacks)))
    parts = [*charted, _results(findings.attacks), *_ceilings(findings.attacks), meanings, curves]
    parts += _notes(findings.attacks)
    return Section.of("Attacks", "attacks", [lead, *parts])


def _off_card(attacked: Attacked) -> list[Text]:
    """Return the note on attacks that do not count towards the risks of WP216, if there are any."""
    return [Text(attacked.off_card, Tone.NOTE)] if attacked.off_card else []


def _results(attacked: Attacked) -> Sheet:
    """Return the results of all attacks, for the owner."""
    controlled = any(result.control is not None for result in attacked.results)
    rows = []
    for result in attacked.results:
        control = "–" if result.control is None else share_of(result.control.value)
        rows.append(
            (
                *_about(result),
                share_of(result.success.value),
                result.interval,
                _over_tables(result),
                share_of(result.baseline),
                *((control,) if controlled else ()),
                result.gained_points,
                f"{result.targets:,}",
                _sure(result),
            )
        )
    control_heading = ("control",) if controlled else ()
    note = (
        "Targets: the individuals, or guesses, of an attack; a sample, or only those to whom the attack applies. Over "
        "tables: the 95% interval for other tables of the same population; the other one is for other targets."
    )
    return _sheet(
        ("success", "95% CI", "over tables", "baseline", *control_heading, "gain over baseline (pp)", "targets"),
        rows,
        note,
    )


def _ceilings(attacked: Attacked) -> Iterator[Sheet]:
    """Yield the success on the original and on a release without quasi-identifiers, where it was measured."""
    rows = tuple(
        (
            result.title,
            "–" if result.floor is None else share_of(result.floor.value),
            share_of(result.success.value),
            share_of(result.ceiling.value),
        )
        for result in attacked.results
        if result.ceiling is not None
    )
    if rows:
        yield Sheet(
            "The same attacks on the original",
            ("attack", "quasi-identifiers suppressed", "release", "original"),
            rows,
            ("An attack that fails on the original, where nothing is protected, says little about the release.",),
            words=1,
        )


def _published(attacked: Attacked, audience: Audience) -> Sheet:
    """Return rounded results without the number of targets, which would disclose the number of suppressed persons."""
    rows = []
    for result in attacked.results:
        if audience.hides_share(result.success.value, result.targets):
            rows.append((*_about(result), "not published", "", "", "", _sure(result)))
            continue
        interval = widened(result.success.low, result.success.high)
        shares = (*interval, rounded(result.success.value), rounded(result.baseline))
        low, high, success, baseline = (f"{100 * share:.0f}" for share in shares)
        points = f"{int(success) - int(baseline):+d}"
        rows.append((*_about(result), f"{success}%", f"{low}–{high}", f"{baseline}%", points, _sure(result)))
    return _sheet(("success", "95% CI", "baseline", "gain over baseline (pp)"), rows, PRECISION)


def _sheet(figures: tuple[str, ...], rows: Sequence[tuple[str, ...]], *notes: str) -> Sheet:
    meanings = (
        (
            "Adversaries: classical (background knowledge), statistical (frequencies, trained models), adaptive "
            "(queries). Semi-honest: analyses the release as it is; malicious: searches for poorly protected records."
        ),
        "pp: percentage points. CI: confidence interval. Missing sensitive values are not attacked.",
        (
            "Significant: the gain over the baseline and, where measured, over the control, at a level of 5% for all "
            "attacks together (Bonferroni)."
        ),
    )
    headings = ("attack", "adversary", *figures, "significant")
    return Sheet("Results of the attacks", headings, tuple(rows), (*meanings, *notes), words=2)


def _about(result: Result) -> tuple[str, str]:
    return result.title, f"{result.adversary}, {result.adversary.conduct}"


def _over_tables(result: Result) -> str:
    """Return the interval for other tables, in per cent."""
    if result.over_tables is None:
        return "–"
    return f"{short(100 * result.over_tables.low)}–{short(100 * result.over_tables.high)}"


def _sure(result: Result) -> str:
    return "yes" if result.is_sure else "no"


def _meanings(attacked: Attacked) -> Facts:
    meanings = {
        f"{result.attack} ({result.variant})" if result.variant else result.attack: result.says
        for result in attacked.results
    }
    return Facts(tuple((name, f"Success: {says}.") for name, says in meanings.items()))


def _curves(attacked: Attacked) -> Iterator[Figure]:
    drawn = [result for result in attacked.results if len(result.curve) > 1]
    for result in sorted(drawn, key=lambda result: -result.lift)[:MOST]:
        yield Figure(charts.knowledge(result))


def _omitted(attacked: Attacked) -> Iterator[Block]:
    """List the attacks that were not run, with the reasons."""
    asked = {result.attack for result in attacked.results} | set(attacked.left_out)
    others = [name for name in ATTACKS if ATTACKS[name].default and name not in asked]
    if others:
        yield Text(f"Not requested: {', '.join(others)}.", Tone.NOTE)
    if attacked.left_out:
        yield Facts(tuple((f"Not run: {name}", why) for name, why in attacked.left_out.items()))


def _notes(attacked: Attacked) -> Iterator[Block]:
    yield from _omitted(attacked)
    notes = [*attacked.notes, *(f"{result.title}: {note}" for result in attacked.results for note in result.notes)]
    yield Listing((*dict.fromkeys(notes), f"Seed of random choices: {attacked.seed}."))
