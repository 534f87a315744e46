"""Summary of the report: the verdict and the main figures."""

from collections.abc import Iterator

from shoal.attacks.attack import ATTACKS
from shoal.attacks.battery import Attacked
from shoal.attacks.result import Result
from shoal.charts.wp216 import QUESTIONS
from shoal.release.judgement import Guarantee
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.chapters.risk import highest
from shoal.reporting.dataset_findings import DatasetFindings
from shoal.reporting.document import Facts, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.sheet import Sheet
from shoal.words import counted, odds, share, short

_SHOWN = 5  # attacks named in the verdict
_INHERITED = (
    "The records of a table also have the attributes of the records that they refer to, because an adversary who has "
    "all tables can look them up. Classes and risks include these attributes."
)


@chapter("summary", place=10, whole=True)
def summary(findings: PublicFindings | DatasetFindings, audience: Audience) -> Section:
    """Present the verdict and the main figures."""
    if isinstance(findings, DatasetFindings):
        return Section.of("Summary", "summary", [verdict(findings), *_of_tables(findings, audience)])
    figures = _numbers(findings, audience) if isinstance(findings, Findings) else _public_numbers(findings, audience)
    attacked = answers(findings.attacks, audience)
    tolerated = _tolerated(findings) if attacked is not None else None
    drawn = Text(findings.without_classes, Tone.NOTE) if findings.without_classes else None
    return Section.of("Summary", "summary", [verdict(findings), figures, drawn, attacked, tolerated])


def _tolerated(findings: PublicFindings) -> Text | None:
    """Relate the success of attacks to the risk that the requirements accept."""
    if findings.policy.k is None:
        return None
    accepted = f"a success of linkage of up to {odds(float(findings.threshold))} is compatible with it"
    limits = "It limits neither singling out by other columns nor the inference of sensitive values."
    return Text(f"k-anonymity with k = {findings.policy.k:,}: {accepted}. {limits}", Tone.NOTE)


def verdict(findings: PublicFindings | DatasetFindings) -> Text:
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
        titles = ", ".join(dict.fromkeys(requirement.title for requirement in unjudged))
        reasons = "; ".join(dict.fromkeys(requirement.why.rstrip(".") for requirement in unjudged))
        sentence = f"Of {counted(asked, 'requirement')}, {len(unjudged)} could not be assessed ({titles})"
        return Text(f"{sentence}: {reasons}. Do not publish the release before this is clarified.", Tone.BAD)
    if not asked:
        return Text("The policy has no privacy requirement. This report is descriptive.", Tone.NOTE)
    which = "the requirement" if asked == 1 else ("both requirements" if asked == 2 else f"all {asked} requirements")
    known = {requirement.guarantee for requirement in findings.requirements}
    ways = {
        Guarantee.VERIFIED: "verified",
        Guarantee.MEASURED: "limits for attacks measured, with 95% intervals",
    }
    how = f" ({'; '.join(says for way, says in ways.items() if way in known)})" if findings.ours else ""
    beyond = _beyond(findings)
    attacks = f"; attacks succeed: {beyond}" if beyond else ""
    return Text(f"The release meets {which} of the policy{how}{attacks}.", Tone.NOTE if beyond else Tone.GOOD)


def _beyond(findings: PublicFindings | DatasetFindings) -> str:
    """Return the attacks that achieve more than the requirements accept; figures for the owner only."""
    named: dict[str, None] = {}
    for table, found in findings.by_table.items():
        results = () if found.attacks is None else found.attacks.succeeding(float(found.threshold))
        for result in sorted(results, key=lambda result: -result.gain):
            success = f" ({share(result.success.value)})" if isinstance(found, Findings) else ""
            named[f"{f'{table}: ' if table else ''}{result.title}{success}"] = None
    return ", ".join([*named][:_SHOWN]) + (f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else "")


def _of_tables(findings: DatasetFindings, audience: Audience) -> Iterator[Sheet | Facts]:
    """Yield the main figures of each table of a dataset."""
    yield _owners_tables(findings, audience) if not audience.external else _public_tables(findings, audience)
    facts = [("References between the tables", ", ".join(findings.references) or "none")]
    if findings.unique_histories is not None:
        unique, persons = findings.unique_histories
        known = "Individuals who are unique if an adversary knows all their records in all tables"
        facts.append((known, f"{unique:,} of {persons:,}"))
    yield Facts(tuple(facts))


def _owners_tables(findings: DatasetFindings, audience: Audience) -> Sheet:
    headings = ("table", "records", "individuals suppressed", "smallest class", "highest risk", "information loss")
    rows = [
        (name, *_table_numbers(found, audience), _outcome(found))
        for name, found in findings.by_table.items()
        if isinstance(found, Findings)
    ]
    rows += [
        (name, f"{table.before:,} → {table.after:,}", "–", "–", "–", "–", table.why)
        for name, table in findings.unprotected.items()
    ]
    notes = (_INHERITED, "Information loss: 0 = no loss, 1 = total.")
    return Sheet("Tables", (*headings, "requirements"), tuple(rows), notes)


def _public_tables(findings: DatasetFindings, audience: Audience) -> Sheet:
    rows = [
        (name, *_public_table_numbers(found, audience), _outcome(found)) for name, found in findings.by_table.items()
    ]
    rows += [(name, f"{table.after:,}", "–", "–", table.why) for name, table in findings.unprotected.items()]
    headings = ("table", "records", "smallest class", "highest risk", "requirements")
    return Sheet("Tables", headings, tuple(rows), (_INHERITED,))


def _table_numbers(findings: Findings, audience: Audience) -> tuple[str, ...]:
    """Return the main figures of a table, for the owner of the dataset."""
    loss = findings.quality.get("loss")
    return (
        f"{findings.before.records:,} → {findings.released.records:,}",
        audience.count(findings.left_out),
        f"{audience.count(findings.before.k)} → {_smallest(findings, audience)}",
        f"{odds(findings.before.prosecutor.maximum)} → {_highest(findings)}",
        "–" if loss is None or loss.total is None else short(loss.total.cost),
    )


def _public_table_numbers(findings: PublicFindings, audience: Audience) -> tuple[str, ...]:
    """Return the main figures of a table, for recipients."""
    countable = findings.countable
    return (
        f"{findings.released.records:,}",
        _smallest(findings, audience) if countable else "–",
        _highest(findings) if countable else "–",
    )


def _smallest(findings: PublicFindings, audience: Audience) -> str:
    """Return the size of the smallest class, if there are classes."""
    return "–" if findings.after is None else audience.count(findings.after.k)


def _highest(findings: PublicFindings) -> str:
    """Return the highest risk in a class, if there are classes. The owner sees risks above the threshold."""
    if findings.risks is None:
        return "–"
    risk = findings.risks.prosecutor
    return odds(risk.maximum) if isinstance(findings, Findings) else highest(risk, findings)


def _outcome(findings: PublicFindings) -> str:
    """Return the number of requirements of a table that are met."""
    met = sum(requirement.holds for requirement in findings.requirements)
    return f"{met} of {len(findings.requirements)} met" if findings.requirements else "none"


def _numbers(findings: Findings, audience: Audience) -> Sheet:
    return Sheet("Before and after", ("", "original", "release"), tuple(_rows(findings, audience)))


def _rows(findings: Findings, audience: Audience) -> Iterator[tuple[str, ...]]:
    before = findings.before
    yield "records", f"{before.records:,}", f"{findings.released.records:,}"
    if findings.policy.search.sample is not None and findings.ours:
        yield "sampling fraction", "", f"{share(findings.policy.search.sample)} of the {findings.who}"
    part = audience.share(findings.left_out, max(findings.left_out + findings.persons, 1))
    yield f"suppressed {findings.who}", "", f"{audience.count(findings.left_out)} ({part})"
    first, two = before.prosecutor, None if findings.risks is None else findings.risks.prosecutor
    size = f"smallest equivalence class ({findings.who})"
    expected = f"expected re-identifications if all {findings.who} are targeted"
    yield size, audience.count(before.k), f"{_smallest(findings, audience)}{_without(findings)}"
    yield "highest re-identification risk", odds(first.maximum), _highest(findings)
    yield "average re-identification risk", odds(first.average), "–" if two is None else odds(two.average)
    yield expected, f"{first.expected:,.0f}", "–" if two is None else f"{two.expected:,.0f}"
    loss = findings.quality.get("loss")
    for limit in findings.requirements:
        if limit.guarantee is Guarantee.MEASURED and limit.after is not None:
            yield f"success of {limit.title} (measured)", "", limit.attained
    if findings.after is not None and loss is not None and loss.total is not None:
        yield "information loss (0 = no loss, 1 = total)", "0", f"{short(loss.total.cost)}{_without(findings)}"


def _without(findings: PublicFindings) -> str:
    """Return a remark on the quasi-identifiers that classes do not include, if there are classes."""
    is_partial = findings.after is not None and findings.drawn_quasi
    return f" (without {', '.join(findings.drawn_quasi)})" if is_partial else ""


def _public_numbers(findings: PublicFindings, audience: Audience) -> Sheet:
    """Return the figures that a recipient can recompute, and those that the owner publishes."""
    rows = [("Records", f"{findings.released.records:,}")]
    if findings.policy.search.sample is not None and findings.ours:
        rows.append(("Sampling fraction", f"{share(findings.policy.search.sample)} of the {findings.who}"))
    if findings.countable and findings.after is not None:
        smallest = f"{_smallest(findings, audience)}{_without(findings)}"
        rows.append((f"Smallest equivalence class ({findings.who})", smallest))
    if findings.countable and findings.risks is not None:
        rows += [
            ("Highest re-identification risk", _highest(findings)),
            ("Average re-identification risk", audience.odds(findings.risks.prosecutor.average)),
        ]
    loss = findings.visible
    if loss.total is not None:
        rows.append(("Loss by label, mean of the quasi-identifiers (0 = no loss, 1 = total)", short(loss.total)))
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
            answer = f"not assessed: {attacked.why_not_assessed(question)}"
        else:
            gain = "significant gain over the baseline" if best.is_sure else "no significant gain over the baseline"
            answer = gain + ("" if audience.external else f": {_achieved(best)}")
        sentences.append((QUESTIONS[question], answer))
    return Facts(tuple(sentences))


def _achieved(best: Result) -> str:
    """Return the success of an attack and its gain over the baseline, in words."""
    unit = ATTACKS[best.attack].unit
    whole = f"{share(best.success.value)} of {counted(best.targets, unit)}"
    return f"{best.title} succeeds for {whole}, baseline {share(best.baseline)}"
