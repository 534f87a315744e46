"""The first page: whether the release does what it must, and what that cost."""

import math
from collections.abc import Iterator

from shoal.battery import Attacked
from shoal.charts.wp216 import QUESTIONS
from shoal.errors import counted
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.risk import highest
from shoal.reporting.document import Facts, Section, Text, Tone
from shoal.reporting.findings import Findings
from shoal.sheet import Sheet
from shoal.words import odds


def summary(found: Findings, audience: Audience) -> Section:
    """Tell the verdict and the numbers that matter most."""
    return Section.of("Summary", "summary", [verdict(found), _numbers(found, audience), answers(found.attacks)])


def verdict(found: Findings) -> Text:
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
        return Text(f"{told}: {unjudged[0].why.rstrip('.')}. The release should not go out before.", Tone.BAD)
    if not asked:
        return Text("The policy requires nothing that could be judged: this report only describes.", Tone.NOTE)
    which = "the requirement" if asked == 1 else f"all {asked} requirements"
    how = "" if found.release is None else "; that was verified by reading the written table again"
    return Text(f"The release meets {which} of the policy{how}.", Tone.GOOD)


def _numbers(found: Findings, audience: Audience) -> Sheet:
    return Sheet("Before and after", ("", "original", "release"), tuple(_rows(found, audience)))


def _rows(found: Findings, audience: Audience) -> Iterator[tuple[str, ...]]:
    before, after = found.before, found.after
    if not audience.external:  # with both totals, others would know how many were left out
        yield "records", f"{before.records:,}", f"{found.released.records:,}"
    else:
        yield "records", "", f"{found.released.records:,}"
    if found.policy.search.sample is not None and found.release is not None:
        yield "drawn at random", "", f"{found.policy.search.sample:.1%} of the {found.who}"
    yield f"{found.who} left out", "", _left_out(found, audience)
    yield f"smallest group that looks alike ({found.who})", audience.count(before.k), audience.count(after.k)
    yield "risk of being found, highest", *(highest(one.prosecutor, found, audience) for one in (before, after))
    first = "" if audience.external else odds(before.prosecutor.average)  # of the original, which others do not have
    yield "risk of being found, on average", first, audience.odds(after.prosecutor.average)
    if not audience.external:
        yield f"{found.who} found, if all are tried", *(f"{one.prosecutor.expected:,.0f}" for one in (before, after))
    loss = found.quality.get("loss")
    if loss is not None and loss.total is not None:
        low, high = audience.cost(loss.total.cost, found.persons)
        between = f"{math.floor(100 * (1 - high)):.0f}–{math.ceil(100 * (1 - low)):.0f}%"
        yield "information that is left (by loss)", "100%", between if audience.external else f"{1 - low:.0%}"


def _left_out(found: Findings, audience: Audience) -> str:
    number = audience.count(found.left_out)
    return (
        number
        if audience.external
        else f"{number} ({audience.share(found.left_out, max(found.left_out + found.persons, 1))})"
    )


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
