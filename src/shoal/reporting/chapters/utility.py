"""What the release is still good for."""

from collections.abc import Iterator

from shoal.analyses.learning import Learned
from shoal.analyses.regression import Regressed
from shoal.charts.before_after import before_after
from shoal.charts.correlations import correlations
from shoal.charts.costs import costs
from shoal.charts.learning import achieved, learning
from shoal.charts.survival import survival
from shoal.qualities.quality import QUALITIES, Aspect
from shoal.reporting.audience import Audience
from shoal.reporting.document import Beside, Block, Figure, Section, Text, Tone
from shoal.reporting.findings import Findings
from shoal.sheet import Sheet
from shoal.words import first_sentence, short

MOST = 16  # columns that are drawn before and after


def utility(found: Findings, audience: Audience) -> Section:
    """Tell what was lost by many measures, and whether analyses come to the same."""
    lead = Text(
        "No single number says what a table is good for. Cost: 0 if nothing is lost in that respect, 1 if all is.",
        Tone.LEAD,
    )
    parts: list[Block] = [lead, *_measures(found, audience)]
    parts += [*_distributions(found, audience), *_analyses(found, audience)]
    return Section.of("Data utility", "utility", parts)


def _measures(found: Findings, audience: Audience) -> Iterator[Block]:
    told = {
        name: one
        for name, one in found.quality.items()
        if one.total is not None and not (audience.external and name == "squared-error")  # one may weigh more than all
    }
    rows = []
    for aspect in Aspect:
        for name, one in sorted(told.items()):
            if one.aspect is aspect and one.total is not None:
                value = () if audience.external else (f"{short(one.total.value)} {one.unit}",)
                rows.append(
                    (
                        str(aspect),
                        name,
                        first_sentence(QUALITIES[name]),
                        *value,
                        audience.write_cost(one.total.cost, found.after.persons),
                    )
                )
    headings = ("about", "measure", "it says", *(() if audience.external else ("value",)), "cost")
    wide = ("The cost lies between the two numbers. Exact ones would tell of fewer persons than may be told.",)
    yield Sheet("What it cost", headings, tuple(rows), wide if audience.external else (), words=3)
    if not audience.external:
        yield Figure(audience.chart(costs({"the release": told})))


def _distributions(found: Findings, audience: Audience) -> Iterator[Block]:
    """Draw columns before and after: for the owner only, for they show how frequent values of the original are."""
    recoding = found.comparison.recoding
    if audience.external:
        return
    if recoding.matched and found.quality.get("correlations") is not None and found.quality["correlations"].total:
        yield Figure(correlations(recoding))
    changed = [one for one in recoding.columns if one.name in found.comparison.columns and _touched(found, one.name)]
    yield Beside(tuple(Figure(before_after(column)) for column in changed[:MOST]))


def _touched(found: Findings, name: str) -> bool:
    fates = found.comparison.columns[name]
    return bool(fates.coarser or fates.changed) or fates.suppressed > found.comparison.suppressed


def _analyses(found: Findings, audience: Audience) -> Iterator[Section]:
    if not found.analyses:
        return
    blocks: list[Block] = []
    learned = [one for one in found.analyses if isinstance(one, Learned)]
    if learned:
        blocks += _learned(learned, audience)
    if not audience.external:  # coefficients are named by values, and curves step where somebody's event was
        for one in found.analyses:
            if isinstance(one, Regressed):
                blocks.append(one.sheet())
            elif not isinstance(one, Learned):
                blocks.append(Figure(survival(one)))
    if blocks:
        yield Section.of("Do analyses come to the same?", "analyses", blocks)


def _learned(learned: list[Learned], audience: Audience) -> Iterator[Block]:
    rows = []
    for one in learned:
        before, after, guess = achieved(one)
        measure = "area under the curve" if one.auc is not None else one.measure
        digits = 2 if audience.external else 3
        numbers = (f"{one.value:.{digits}f} ({one.low:.{digits}f}–{one.high:.{digits}f})" for one in (before, after))
        rows.append((one.target, one.model, measure, f"{guess:.{digits}f}", *numbers))
    headings = ("predicted", "model", "measure", "by guessing", "from the original", "from the release")
    told = ("Tested on persons that the model has not seen; 95 % intervals.",)
    yield Sheet("Predictions", headings, tuple(rows), told, words=3)
    by_measure: dict[bool, dict[str, Learned]] = {}
    for one in learned:
        by_measure.setdefault(one.auc is not None, {})[f"{one.target} ({one.model})"] = one
    for held in by_measure.values():
        several = "What can be predicted, from the release and from the original"
        yield Figure(audience.chart(learning(held, title=several if len(held) > 1 else None)))
