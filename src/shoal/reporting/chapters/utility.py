"""Chapter on data utility."""

from collections.abc import Iterator

from shoal.analyses.learning import Learned
from shoal.analyses.regression import Regressed
from shoal.charts.before_after import before_after
from shoal.charts.correlations import correlations
from shoal.charts.costs import costs
from shoal.charts.learning import learning
from shoal.charts.survival import survival
from shoal.qualities.quality import QUALITIES, Aspect
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.document import Beside, Block, Figure, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.sheet import Sheet
from shoal.words import first_sentence, listed, short

MOST = 16  # maximum number of columns drawn before and after


@chapter("utility", place=70)
def utility(findings: PublicFindings, audience: Audience) -> Section:
    """Report the information loss by several measures, and the agreement of analyses."""
    del audience  # the owner's figures are in the owner's findings only
    lead = Text("No single measure describes the utility of a table.", Tone.LEAD)
    if isinstance(findings, Findings):
        lead = Text(f"{lead.text} Cost: 0 = no loss, 1 = total loss in that respect.", Tone.LEAD)
        parts = [lead, *_measures(findings), _perturbed(findings), *_distributions(findings), *_analyses(findings)]
    else:
        parts = [lead, *_visible(findings)]
    return Section.of("Data utility", "utility", parts)


def _visible(findings: PublicFindings) -> Iterator[Block]:
    """Yield the measures that a recipient can recompute from the released cells and the hierarchies."""
    if not findings.released.quasi:
        yield Text("The released table does not show how much its perturbed values changed.", Tone.NOTE)
        return
    after, loss = findings.after, findings.visible
    rows = [] if after is None else [("equivalence classes", f"{after.classes:,}")]
    if loss.total is not None:
        rows.insert(0, ("loss by label, mean of the quasi-identifiers (0 to 1)", short(loss.total)))
    notes = ["Computed from the released cells and the hierarchies, without the original."]
    if loss.undetermined:
        notes.append(
            f"No total is given, because the labels of some columns do not show how many values they cover: "
            f"{listed(loss.undetermined)}."
        )
    if rows:
        yield Sheet("Measures of the release", ("measure", "value"), tuple(rows), tuple(notes))
    else:
        yield Text(" ".join(notes), Tone.NOTE)


def _measures(findings: Findings) -> Iterator[Block]:
    measured = {
        name: measured_quality
        for name, measured_quality in findings.quality.items()
        if measured_quality.total is not None
    }
    rows = []
    for aspect in Aspect:
        for name, measured_quality in sorted(measured.items()):
            if measured_quality.aspect is aspect and measured_quality.total is not None:
                value = measured_quality.amount
                rows.append(
                    (str(aspect), name, first_sentence(QUALITIES[name]), value, short(measured_quality.total.cost))
                )
    yield Sheet("Information loss", ("aspect", "measure", "meaning", "value", "cost"), tuple(rows), words=3)
    yield Figure(costs({"the release": measured}))


def _perturbed(findings: Findings) -> Sheet | None:
    """Return how much the values of each perturbed column changed, if the records are matched."""
    rows = [
        (column, name, first_sentence(QUALITIES[name]), short(score.value))
        for column, scores in findings.comparison.perturbed.items()
        for name, score in scores.items()
    ]
    if not rows:
        return None
    included = "Not included in the information loss above, which describes generalisation and suppression."
    notes = (included,) if findings.released.quasi else ()
    return Sheet("Changes of perturbed columns", ("variable", "measure", "meaning", "value"), tuple(rows), notes, 3)


def _distributions(findings: Findings) -> Iterator[Block]:
    """Draw columns before and after anonymisation, with the frequencies of the original."""
    recoding = findings.comparison.recoding
    if recoding.matched and findings.quality.get("correlations") is not None and findings.quality["correlations"].total:
        yield Figure(correlations(recoding))
    changed = [
        column
        for column in recoding.columns
        if column.name in findings.comparison.columns and _touched(findings, column.name)
    ]
    yield Beside(tuple(Figure(before_after(column)) for column in changed[:MOST]))


def _touched(findings: Findings, name: str) -> bool:
    fates = findings.comparison.columns[name]
    return bool(fates.coarser or fates.changed) or fates.suppressed > findings.comparison.suppressed


def _analyses(findings: Findings) -> Iterator[Section]:
    learned = [analysis for analysis in findings.analyses if isinstance(analysis, Learned)]
    blocks: list[Block] = [*_learned(learned)] if learned else []
    for analysis in findings.analyses:
        if isinstance(analysis, Regressed):
            blocks.append(analysis.sheet())
        elif not isinstance(analysis, Learned):
            blocks.append(Figure(survival(analysis)))
    if blocks:
        yield Section.of("Agreement of analyses", "analyses", blocks)


def _learned(learned: list[Learned]) -> Iterator[Block]:
    rows = []
    for result in learned:
        before, after, guess = result.achieved
        measure = "area under the curve" if result.auc is not None else result.measure_title
        numbers = (
            f"{short(estimate.value)} ({short(estimate.low)}–{short(estimate.high)})" for estimate in (before, after)
        )
        rows.append((result.target, result.model, measure, short(guess), *numbers))
    headings = ("target", "model", "measure", "baseline", "trained on the original", "trained on the release")
    note = ("Tested on individuals that the model has not seen; 95% intervals.",)
    yield Sheet("Predictions", headings, tuple(rows), note, words=3)
    by_measure: dict[bool, dict[str, Learned]] = {}
    for result in learned:
        by_measure.setdefault(result.auc is not None, {})[f"{result.target} ({result.model})"] = result
    for same_measure in by_measure.values():
        several = "Predictive performance of models trained on the original and on the release"
        yield Figure(learning(same_measure, title=several if len(same_measure) > 1 else None))
