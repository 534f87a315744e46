"""The first page: whether the release does what it must, and what that cost."""

from collections.abc import Iterator

from shoal.attacks.battery import Attacked
from shoal.charts.wp216 import QUESTIONS
from shoal.errors import counted
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.risk import highest
from shoal.reporting.document import Facts, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.sheet import Sheet
from shoal.words import odds


def summary(found: PublicFindings, audience: Audience) -> Section:
    """Give the verdict and the main figures."""
    figures = _numbers(found, audience) if isinstance(found, Findings) else _public_numbers(found, audience)
    return Section.of("Summary", "summary", [verdict(found), figures, answers(found.attacks)])


def verdict(found: PublicFindings) -> Text:
    """Say whether all that is required holds."""
    asked = len(found.requirements)
    failing = sum(one.after is not None and not one.after.satisfied for one in found.requirements)
    unjudged = [one for one in found.requirements if not one.holds and one.after is None]
    if found.naming:
        told = f"The release names persons ({', '.join(found.naming)}). It must not go out."
        return Text(told, Tone.BAD)
    if found.unknown:
        told = f"The release has columns that the policy says nothing about ({', '.join(found.unknown)})."
        return Text(f"{told} They were not judged, and it should not go out.", Tone.BAD)
    if failing:
        which = "its only requirement" if asked == 1 else f"{failing} of {asked} requirements"
        return Text(f"The release does not meet {which}. It should not go out.", Tone.BAD)
    if unjudged:
        told = f"Of {counted(asked, 'requirement')}, {len(unjudged)} could not be judged ({unjudged[0].title})"
        return Text(f"{told}: {unjudged[0].why.rstrip('.')}. Do not publish it before this is clarified.", Tone.BAD)
    if not asked:
        return Text("The policy requires nothing that could be judged: this report only describes.", Tone.NOTE)
    which = "the requirement" if asked == 1 else f"all {asked} requirements"
    how = "; that was verified by reading the written table again" if found.ours else ""
    return Text(f"The release meets {which} of the policy{how}.", Tone.GOOD)


def _numbers(found: Findings, audience: Audience) -> Sheet:
    return Sheet("Before and after", ("", "original", "release"), tuple(_rows(found, audience)))


def _rows(found: Findings, audience: Audience) -> Iterator[tuple[str, ...]]:
    before, after = found.before, found.after
    yield "records", f"{before.records:,}", f"{found.released.records:,}"
    if found.policy.search.sample is not None and found.ours:
        yield "drawn at random", "", f"{found.policy.search.sample:.1%} of the {found.who}"
    share = audience.share(found.left_out, max(found.left_out + found.persons, 1))
    yield f"suppressed {found.who}", "", f"{audience.count(found.left_out)} ({share})"
    yield f"smallest group that looks alike ({found.who})", audience.count(before.k), audience.count(after.k)
    yield "risk of being found, highest", *(odds(one.prosecutor.maximum) for one in (before, after))
    yield "risk of being found, on average", *(odds(one.prosecutor.average) for one in (before, after))
    yield f"{found.who} found, if all are tried", *(f"{one.prosecutor.expected:,.0f}" for one in (before, after))
    loss = found.quality.get("loss")
    if loss is not None and loss.total is not None:
        yield "information that is left (by loss)", "100%", f"{1 - loss.total.cost:.0%}"


def _public_numbers(found: PublicFindings, audience: Audience) -> Sheet:
    """Give the figures that a recipient can recompute, and those that the owner publishes."""
    rows = [("Records", f"{found.released.records:,}")]
    if found.policy.search.sample is not None and found.ours:
        rows.append(("Sampling fraction", f"{found.policy.search.sample:.1%} of the {found.who}"))
    if found.countable:
        rows += [
            (f"Smallest equivalence class ({found.who})", audience.count(found.after.k)),
            ("Highest re-identification risk", highest(found.after.prosecutor, found)),
            ("Average re-identification risk", audience.odds(found.after.prosecutor.average)),
        ]
    loss = found.visible
    if loss.total is not None:
        without = f"; without {', '.join(loss.undetermined)}" if loss.undetermined else ""
        rows.append(
            (f"Information loss of the released cells (0 = none, 1 = everything{without})", f"{loss.total:.2f}")
        )
    notes = () if found.chosen or found.attacks is not None else ("The owner publishes no figures about the original.",)
    return Sheet("Figures of the release", ("", "release"), (*rows, *_chosen(found)), notes)


def _chosen(found: PublicFindings) -> Iterator[tuple[str, str]]:
    """Write the published figures about the original, with their precision."""
    if "suppressed" in found.chosen:
        one = found.chosen["suppressed"]
        yield f"Suppressed {found.who} (rounded to multiples of {one['rounded_to']})", f"{one['value']:,}"
    if "risk_of_original" in found.chosen:
        one = found.chosen["risk_of_original"]
        rounded = f"(rounded to {one['rounded_to']})"
        above = f"Original: share of {found.who} with a risk above {odds(float(one['threshold']))} {rounded}"
        yield f"Original: average re-identification risk {rounded}", f"{one['average']:.2f}"
        yield above, f"{one['share_above_threshold']:.2f}"


def answers(attacked: Attacked | None) -> Facts | None:
    """Answer the three questions of WP216, if something was tried."""
    if attacked is None:
        return None
    said = []
    for question, best in attacked.card().items():
        if best is None:
            answer = "Nothing was tried."
        elif best.is_sure:
            answer = f"Yes, better than without the release: {best.title}."
        else:
            answer = "Not surely better than without the release."
        said.append((QUESTIONS[question], answer))
    return Facts(tuple(said))
