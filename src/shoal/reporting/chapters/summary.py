"""Summary of the report: the verdict and the main figures."""

from collections.abc import Iterator

from shoal.attacks.battery import Attacked
from shoal.attacks.result import Result
from shoal.charts.wp216 import QUESTIONS
from shoal.release.judgement import Guarantee
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.chapters.risk import highest
from shoal.reporting.document import Facts, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.sheet import Sheet
from shoal.words import counted, odds, share, short


@chapter("summary", place=10)
def summary(findings: PublicFindings, audience: Audience) -> Section:
    """Present the verdict and the main figures."""
    figures = _numbers(findings, audience) if isinstance(findings, Findings) else _public_numbers(findings, audience)
    return Section.of("Summary", "summary", [verdict(findings), figures, answers(findings.attacks, audience)])


def verdict(findings: PublicFindings) -> Text:
    """State whether the release meets all requirements."""
    asked = len(findings.requirements)
    failing = sum(
        requirement.after is not None and not requirement.after.satisfied for requirement in findings.requirements
    )
    unjudged = [
        requirement for requirement in findings.requirements if not requirement.holds and requirement.after is None
    ]
    if findings.naming:
        sentence = f"The release contains direct identifiers ({', '.join(findings.naming)}). It must not be published."
        return Text(sentence, Tone.BAD)
    if findings.unknown:
        sentence = f"The release has columns that the policy does not describe ({', '.join(findings.unknown)})."
        return Text(f"{sentence} They were not assessed. It should not be published.", Tone.BAD)
    if failing:
        which = "the requirement of the policy" if asked == 1 else f"{failing} of {asked} requirements"
        return Text(f"The release does not meet {which}. It should not be published.", Tone.BAD)
    if unjudged:
        sentence = f"Of {counted(asked, 'requirement')}, {len(unjudged)} could not be assessed ({unjudged[0].title})"
        return Text(
            f"{sentence}: {unjudged[0].why.rstrip('.')}. Do not publish the release before this is clarified.", Tone.BAD
        )
    if not asked:
        return Text("The policy has no privacy requirement. This report is descriptive.", Tone.NOTE)
    which = "the requirement" if asked == 1 else ("both requirements" if asked == 2 else f"all {asked} requirements")
    known = {requirement.guarantee for requirement in findings.requirements}
    ways = {
        Guarantee.VERIFIED: "verified",
        Guarantee.MEASURED: "limits for attacks measured, with 95% intervals",
    }
    how = f" ({'; '.join(says for way, says in ways.items() if way in known)})" if findings.ours else ""
    return Text(f"The release meets {which} of the policy{how}.", Tone.GOOD)


def _numbers(findings: Findings, audience: Audience) -> Sheet:
    return Sheet("Before and after", ("", "original", "release"), tuple(_rows(findings, audience)))


def _rows(findings: Findings, audience: Audience) -> Iterator[tuple[str, ...]]:
    before, after = findings.before, findings.after
    yield "records", f"{before.records:,}", f"{findings.released.records:,}"
    if findings.policy.search.sample is not None and findings.ours:
        yield "sampling fraction", "", f"{share(findings.policy.search.sample)} of the {findings.who}"
    part = audience.share(findings.left_out, max(findings.left_out + findings.persons, 1))
    yield f"suppressed {findings.who}", "", f"{audience.count(findings.left_out)} ({part})"
    yield f"smallest equivalence class ({findings.who})", audience.count(before.k), audience.count(after.k)
    yield "highest re-identification risk", *(odds(assessment.prosecutor.maximum) for assessment in (before, after))
    yield "average re-identification risk", *(odds(assessment.prosecutor.average) for assessment in (before, after))
    yield (
        f"expected re-identifications if all {findings.who} are targeted",
        *(f"{assessment.prosecutor.expected:,.0f}" for assessment in (before, after)),
    )
    loss = findings.quality.get("loss")
    if loss is not None and loss.total is not None:
        yield "information loss (0 = no loss, 1 = total)", "0", short(loss.total.cost)


def _public_numbers(findings: PublicFindings, audience: Audience) -> Sheet:
    """Return the figures that a recipient can recompute, and those that the owner publishes."""
    rows = [("Records", f"{findings.released.records:,}")]
    if findings.policy.search.sample is not None and findings.ours:
        rows.append(("Sampling fraction", f"{share(findings.policy.search.sample)} of the {findings.who}"))
    if findings.countable:
        rows += [
            (f"Smallest equivalence class ({findings.who})", audience.count(findings.after.k)),
            ("Highest re-identification risk", highest(findings.after.prosecutor, findings)),
            ("Average re-identification risk", audience.odds(findings.after.prosecutor.average)),
        ]
    loss = findings.visible
    if loss.total is not None:
        rows.append(("Information loss of the released cells (0 = no loss, 1 = total)", short(loss.total)))
    notes = (
        ()
        if findings.chosen or findings.attacks is not None
        else ("The owner publishes no figures about the original.",)
    )
    return Sheet("Figures of the release", ("", "release"), (*rows, *_chosen(findings)), notes)


def _chosen(findings: PublicFindings) -> Iterator[tuple[str, str]]:
    """Yield the published figures about the original, with their precision."""
    if "suppressed" in findings.chosen:
        figure = findings.chosen["suppressed"]
        yield f"Suppressed {findings.who} (rounded to multiples of {figure['rounded_to']})", f"{figure['value']:,}"
    if "risk_of_original" in findings.chosen:
        figure = findings.chosen["risk_of_original"]
        rounded = f"(rounded to {figure['rounded_to']})"
        above = f"Original: share of {findings.who} with a risk above {odds(float(figure['threshold']))} {rounded}"
        yield f"Original: average re-identification risk {rounded}", short(figure["average"])
        yield above, short(figure["share_above_threshold"])


def answers(attacked: Attacked | None, audience: Audience) -> Facts | None:
    """Return the result for each of the three risks of WP216, if attacks were run; figures for the owner only."""
    if attacked is None:
        return None
    sentences = []
    for question, best in attacked.card().items():
        if best is None:
            answer = "not assessed: no attack was run"
        elif best.is_sure:
            answer = "present" + ("" if audience.external else f"; {_achieved(best)}")
        else:
            answer = "no significant gain over the baseline" + ("" if audience.external else f"; {_achieved(best)}")
        sentences.append((QUESTIONS[question], answer))
    return Facts(tuple(sentences))


def _achieved(best: Result) -> str:
    """Return the success of an attack and its gain over the baseline, in words."""
    return f"{best.title}: success {share(best.success.value)}, gain over the baseline {best.gained}"
