"""Section on the tables of a release in several tables: what links them, and what they tell together."""

from collections.abc import Iterator

from shoal.attacks.result import Result
from shoal.release.published import PRECISION, rounded, widened
from shoal.reporting.audience import Audience
from shoal.reporting.document import Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.reporting.split_findings import SplitFindings
from shoal.sheet import Sheet
from shoal.words import counted, share


def tables(findings: PublicFindings, audience: Audience) -> Section | None:
    """Describe the tables of a release; None if it is in one table."""
    split = findings.split
    if split is None:
        return None
    parts = [
        Text(f"{split.form.says} {split.form.guarantee}"),
        _columns(split),
        Text(" ".join(_identities(findings, split, audience)), Tone.NOTE),
        _learned(split, None if isinstance(findings, Findings) else audience),
        *(Text(sentence) for sentence in _of_several(findings, split.inference)),
        *(Text(sentence) for sentence in _error(split)),
    ]
    if not split.inference:
        parts.append(Text("What can be learned from the tables was measured by the owner, and is not published."))
    return Section.of("Several tables", "tables", parts)


def _columns(split: SplitFindings) -> Sheet:
    """Return the columns of each table."""
    rows = tuple((name, f"{table.records:,}", ", ".join(table.names)) for name, table in split.tables.items())
    note = f"The tables are linked by column '{split.link}', the number of a bucket."
    return Sheet("Released tables", ("table", "records", "columns"), rows, (note,), words=3)


def _identities(findings: PublicFindings, split: SplitFindings, audience: Audience) -> Iterator[str]:
    """Yield sentences on the quasi-identifiers that the first table shows."""
    if split.unique is None:
        yield "No table contains all quasi-identifiers: it cannot be seen which of their values belong together."
        return
    is_raw = split.form.releases_identities and not findings.policy.k
    how = "unchanged" if is_raw else "as described above"
    yield f"The first table contains all quasi-identifiers, {how}."
    if isinstance(findings, Findings) or findings.countable:
        persons = f"{findings.persons:,} {findings.who}"
        unique = audience.count(split.unique)
        yield f"Unique in them: {unique} of {persons}. It can be seen whether an individual is in the data."


def _learned(split: SplitFindings, audience: Audience | None) -> Sheet | None:
    """Return what is guessed with and without learning from the release; ``audience``: recipients, if any."""
    if not split.inference:
        return None
    rows = []
    for result in split.inference:
        promised = result.details.get("most_probable_without_learning")
        most = "–" if promised is None else share(float(promised))
        if promised is not None and audience is not None and split.form.groups_columns:
            most = share(widened(0, float(promised))[1])  # a maximum over the individuals of the original
        rows.append((result.title, most, *(_exact(result) if audience is None else _rounded(result, audience))))
    headings = ("attack", "without learning, at most", "guessed (95% CI)", "without the release", "control")
    note = (
        "The adversary learns from the tables which values go with which other columns, and guesses the most likely "
        "value. Without the release: a model of other individuals. Control: the same attack where nothing can be "
        "learned."
    )
    exact = "" if split.form.groups_columns else " The limit without learning follows from the released tables."
    notes = (note,) if audience is None else (note, f"{PRECISION}{exact}")
    return Sheet("Sensitive values inferred from buckets", headings, tuple(rows), notes)


def _of_several(findings: PublicFindings, results: tuple[Result, ...]) -> Iterator[str]:
    """Yield a sentence on individuals with several values, if there are any; figures for the owner only."""
    for result in results:
        most = result.details.get("most_probable_of_several_values")
        if most is None:
            continue
        sentence = (
            f"The limit applies to each value of {result.column} by itself. It can be more probable that one of "
            "several values of an individual is a given one"
        )
        if not isinstance(findings, Findings):
            yield f"{sentence}."
            continue
        number, single = int(result.details["individuals_above"]), result.details["most_probable_without_learning"]
        yield (
            f"{sentence}: up to {share(float(most))} without learning. Individuals for whom it exceeds the "
            f"{share(float(single))} of a single value: {number:,}."
        )


def _exact(result: Result) -> tuple[str, str, str]:
    """Return success, baseline and control for the owner."""
    interval = f"{share(result.success.low)} to {share(result.success.high)}"
    control = "–" if result.control is None else share(result.control.value)
    return f"{share(result.success.value)} ({interval})", share(result.baseline), control


def _rounded(result: Result, audience: Audience) -> tuple[str, str, str]:
    """Return success, baseline and control as they are published; exact ones disclose how many are suppressed."""
    if audience.hides_share(result.success.value, result.targets):
        return "not published", "", ""
    low, high = (share(end) for end in widened(result.success.low, result.success.high))
    control = "–" if result.control is None else share(rounded(result.control.value))
    return f"{share(rounded(result.success.value))} ({low} to {high})", share(rounded(result.baseline)), control


def _error(split: SplitFindings) -> Iterator[str]:
    """Yield the error of counts, for the owner."""
    if split.error is not None:
        low, high = split.error.quartiles
        queries = counted(len(split.error.errors), "random count query")
        yield (
            f"Counts estimated from the tables: median relative error {share(split.error.median)} "
            f"({share(low)} to {share(high)} for half of {queries})."
        )
