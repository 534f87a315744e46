"""What the release is still good for."""

from collections.abc import Iterator

from shoal.analyses.learning import Learned
from shoal.analyses.regression import Regressed
from shoal.charts.before_after import before_after
from shoal.charts.correlations import correlations
from shoal.charts.costs import costs
from shoal.charts.learning import achieved, learning
from shoal.charts.survival import survival
from shoal.errors import listed
from shoal.qualities.quality import QUALITIES, Aspect
from shoal.reporting.audience import Audience
from shoal.reporting.document import Beside, Block, Figure, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.sheet import Sheet
from shoal.words import first_sentence, short

MOST = 16  # columns that are drawn before and after


def utility(found: PublicFindings, audience: Audience) -> Section:
    """Tell what was lost by many measures, and whether analyses come to the same."""
    del audience  # the owner's figures are in the owner's findings only
    lead = Text(
        "No single number says what a table is good for. Cost: 0 if nothing is lost in that respect, 1 if all is.",
        Tone.LEAD,
    )
    if isinstance(found, Findings):
        parts = [lead, *_measures(found), *_distributions(found), *_analyses(found)]
    else:
        parts = [lead, *_visible(found)]
    return Section.of("Data utility", "utility", parts)


def _visible(found: PublicFindings) -> Iterator[Block]:
    """Give the measures that a recipient can recompute from the released cells and the hierarchies."""
    loss, rows = found.visible, [("equivalence classes", f"{found.after.classes:,}")]
    if loss.total is not None:
        rows.insert(0, ("information loss of the released cells (0 to 1)", f"{loss.total:.2f}"))
    notes = ["Computed from the released cells and the hierarchies, without the original."]
    if loss.undetermined:
        notes.append(f"Labels do not determine the loss of {listed(loss.undetermined)}; not counted.")
    yield Sheet("Measures of the release", ("measure", "value"), tuple(rows), tuple(notes))


def _measures(found: Findings) -> Iterator[Block]:
    measured = {name: one for name, one in found.quality.items() if one.total is not None}
    rows = []
    for aspect in Aspect:
        for name, one in sorted(measured.items()):
            if one.aspect is aspect and one.total is not None:
                value = f"{short(one.total.value)} {one.unit}"
                rows.append((str(aspect), name, first_sentence(QUALITIES[name]), value, f"{one.total.cost:.3f}"))
    yield Sheet("What it cost", ("about", "measure", "it says", "value", "cost"), tuple(rows), words=3)
    yield Figure(costs({"the release": measured}))


def _distributions(found: Findings) -> Iterator[Block]:
    """Draw columns before and after, with the frequencies of the original."""
    recoding = found.comparison.recoding
    if recoding.matched and found.quality.get("correlations") is not None and found.quality["correlations"].total:
        yield Figure(correlations(recoding))
    changed = [one for one in recoding.columns if one.name in found.comparison.columns and _touched(found, one.name)]
    yield Beside(tuple(Figure(before_after(column)) for column in changed[:MOST]))


def _touched(found: Findings, name: str) -> bool:
    fates = found.comparison.columns[name]
    return bool(fates.coarser or fates.changed) or fates.suppressed > found.comparison.suppressed


def _analyses(found: Findings) -> Iterator[Section]:
    learned = [one for one in found.analyses if isinstance(one, Learned)]
    blocks: list[Block] = [*_learned(learned)] if learned else []
    for one in found.analyses:
        if isinstance(one, Regressed):
            blocks.append(one.sheet())
        elif not isinstance(one, Learned):
            blocks.append(Figure(survival(one)))
    if blocks:
        yield Section.of("Do analyses come to the same?", "analyses", blocks)


def _learned(learned: list[Learned]) -> Iterator[Block]:
    rows = []
    for one in learned:
        before, after, guess = achieved(one)
        measure = "area under the curve" if one.auc is not None else one.measure
        numbers = (f"{held.value:.3f} ({held.low:.3f}–{held.high:.3f})" for held in (before, after))
        rows.append((one.target, one.model, measure, f"{guess:.3f}", *numbers))
    headings = ("predicted", "model", "measure", "by guessing", "from the original", "from the release")
    told = ("Tested on persons that the model has not seen; 95 % intervals.",)
    yield Sheet("Predictions", headings, tuple(rows), told, words=3)
    by_measure: dict[bool, dict[str, Learned]] = {}
    for one in learned:
        by_measure.setdefault(one.auc is not None, {})[f"{one.target} ({one.model})"] = one
    for held in by_measure.values():
        several = "What can be predicted, from the release and from the original"
        yield Figure(learning(held, title=several if len(held) > 1 else None))
