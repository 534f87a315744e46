"""Chapter on limitations."""

from collections.abc import Iterator, Mapping
from importlib.resources import files

from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.chapters.variables import truthfulness
from shoal.reporting.dataset_findings import DatasetFindings
from shoal.reporting.document import Listing, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings


@chapter("limits", place=90, whole=True)
def limits(findings: PublicFindings | DatasetFindings, audience: Audience) -> Section:
    """List the limitations of the figures."""
    del audience  # notes on the original are in the owner's findings only
    lead = Text("The figures of this report rest on assumptions and do not cover the following.", Tone.LEAD)
    return Section.of("Limitations", "limits", [lead, Listing(tuple(_points(findings)))])


def _points(findings: PublicFindings | DatasetFindings) -> list[str]:
    text = files("shoal.reporting").joinpath("texts/limits.txt").read_text(encoding="utf-8")
    points, tables = text.splitlines(), findings.by_table
    if all(found.attacks is None and isinstance(found, Findings) for found in tables.values()):
        points.insert(3, "No attack was run for this report.")
    if not findings.ours:
        points.append("There is no record that this release was made from these data with this policy.")
    truths = {name: truthfulness(found) for name, found in tables.items()}
    points += _named({name: [f"Truthfulness: {truth}"] for name, truth in truths.items() if truth})
    return [*points, *_named({name: _notes(found) for name, found in tables.items() if isinstance(found, Findings)})]


def _notes(findings: Findings) -> list[str]:
    """Return the notes for the owner, each once."""
    after = () if findings.after is None else findings.after.notes
    own = () if findings.part is None else findings.part.remarks
    return [*dict.fromkeys([*own, *findings.before.notes, *after, *findings.comparison.notes])]


def _named(notes: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield notes on several tables, each once with the names of its tables; a single table has no name."""
    tables: dict[str, list[str]] = {}
    for name, texts in notes.items():
        for text in texts:
            tables.setdefault(text, []).append(name)
    for text, names in tables.items():
        yield text if names == [""] else f"{', '.join(names)}: {text}"
