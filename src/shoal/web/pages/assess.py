"""Assess: re-identification risk of the original table."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from starlette.responses import Response

from shoal import charts
from shoal.charts.heatmap import persons_in_order
from shoal.disclosure import USUAL
from shoal.errors import ModelError, PolicyError
from shoal.individuals.people import People
from shoal.progress import Hook
from shoal.reporting.document import Beside, Block, Figure, Section, Text, Tone
from shoal.reporting.findings import threshold
from shoal.risk.assessment import Assessment
from shoal.sheet import Sheet
from shoal.verbs.assess import assess
from shoal.verbs.peers import peers
from shoal.web.jobs import Job
from shoal.web.page import Visit, route
from shoal.web.pages import dataset
from shoal.web.project import Basis, Moment
from shoal.web.spots import Marks, Spot, Spotted
from shoal.words import odds, share, short

MOST = 50  # largest k offered by the sliders
BANDS = 60  # clickable bands of the heatmap


def _show(visit: Visit) -> Response:
    now = visit.now
    if now.source is None:
        return visit.back("load")
    if not any(column.role == "quasi" for column in now.policy.columns.values()):
        return visit.back("identify")
    looked = now.job("peers", Basis.REQUIRED)
    return visit.show("assess", job=assessing(now), looked=looked, k=now.policy.k or USUAL)


def assessing(now: Moment) -> Job:
    """Assess the current table, or return the existing job."""

    def work(now: Moment, hook: Hook) -> Assessment:
        return assess(now.table(hook), now.policy, threshold=threshold(now.policy), progress=hook)

    return now.begin("assess", work, _told, basis=Basis.REQUIRED)


def _told(assessment: Assessment) -> Iterator[Block]:
    who = "individuals" if assessment.counts_persons else "records"
    yield Text(f"{assessment.meaning} Quasi-identifiers: {', '.join(assessment.quasi)}.", Tone.LEAD)
    yield _required(assessment)
    yield _found(assessment, who)
    limit = Fraction(assessment.prosecutor.threshold).limit_denominator(10_000)
    pictures = (charts.risks({"the table": assessment}, limit), charts.class_sizes(assessment, least=round(1 / limit)))
    yield Beside(tuple(map(Figure, pictures)))
    if assessment.attributes:
        yield _learned(assessment)
    if len(assessment.contributions) > 1:
        yield _contributions(assessment, who)
    for note in assessment.notes:
        yield Text(note, Tone.NOTE)


def _required(assessment: Assessment) -> Sheet | Text:
    if not assessment.requirements:
        return Text("No privacy requirement yet. Requirements are defined in the next step.", Tone.NOTE)
    rows = [
        (
            requirement.verdict.title,
            requirement.verdict.asked,
            requirement.verdict.attained,
            requirement.verdict.says,
            requirement.says,
        )
        for requirement in assessment.requirements
    ]
    title = f"Privacy requirements: {'met' if assessment.met else 'not met'}"
    return Sheet(title, ("model", "required", "attained", "verdict", "meaning"), tuple(rows), words=5)


def _found(assessment: Assessment, who: str) -> Sheet:
    rows = [
        (
            risk.adversary,
            risk.meaning,
            odds(risk.highest),
            odds(risk.average),
            short(risk.expected),
            "–" if risk.highest is None else f"{risk.above:,}",
        )
        for risk in (assessment.prosecutor, assessment.journalist, assessment.marketer)
    ]
    limit = odds(assessment.prosecutor.threshold)
    headings = (
        "adversary",
        "assumption",
        "highest risk",
        "average risk",
        "expected re-identifications",
        f"{who} with a risk above {limit}",
    )
    notes = [
        "Highest and average: probability of a correct re-identification.",
        f"Expected re-identifications if all {assessment.persons:,} {who} are targeted.",
    ]
    if assessment.journalist.basis != "counted":
        notes.append(
            f"Journalist and marketer: {assessment.journalist.basis}, because the population is not described."
        )
    return Sheet("Re-identification risk", headings, tuple(rows), tuple(notes), words=2)


def _learned(assessment: Assessment) -> Sheet:
    rows = [
        (
            attribute.column,
            share(float(attribute.baseline)),
            share(float(attribute.average)),
            f"{attribute.certain:,}",
        )
        for attribute in assessment.attributes
    ]
    note = (
        "Probability that the most frequent value of the equivalence class is the true value.",
        "Baseline: probability that the most frequent value of the whole table is the true value.",
        "In classes with a common value: all members of the class have this value.",
    )
    headings = ("variable", "baseline", "inferred from the table", "in classes with a common value")
    return Sheet("Attribute disclosure", headings, tuple(rows), note)


def _contributions(assessment: Assessment, who: str) -> Sheet:
    rows = [
        (
            contribution.column,
            f"{contribution.without.alone:,}",
            "–" if contribution.coarser is None else f"{contribution.coarser.alone:,}",
        )
        for contribution in assessment.contributions
    ]
    title = f"Contribution of each quasi-identifier (unique in the table: {assessment.sizes.get(1, 0):,} {who})"
    notes = ("–: one level of generalisation suppresses all values, or no hierarchy is given.",)
    return Sheet(title, ("variable", "unique if removed", "unique if generalised one level"), tuple(rows), notes)


def _threshold(visit: Visit) -> Response:
    """Show the effect of a threshold: the individuals above it, who would be suppressed without generalisation."""
    assessment: Assessment | None = visit.now.result("assess", Basis.REQUIRED)
    if assessment is None:
        raise PolicyError("not-assessed", "The table has not been assessed yet.", remedy="Reload the page.")
    most = max(MOST, visit.now.policy.k or 0)
    persons, limit = visit.number("persons", 0, assessment.persons), visit.number("limit", 0, 100)
    if persons is not None:
        k = largest(assessment, persons, most)
    elif limit is not None:
        k = largest(assessment, limit * assessment.persons // 100, most)
    else:
        k = visit.number("k", 2, most) or min(USUAL, most)
    above = below(assessment, k)
    return visit.part(
        "threshold", k=k, most=most, above=above, assessment=assessment, share=above / max(assessment.persons, 1)
    )


def below(assessment: Assessment, k: int) -> int:
    """Return the number of persons in equivalence classes smaller than k."""
    return sum(persons for size, persons in assessment.sizes.items() if size < k)


def largest(assessment: Assessment, persons: int, most: int = MOST) -> int:
    """Return the largest k that requires the suppression of at most the given number of persons.

    Values from 2 to ``most`` are considered; 2 is returned if none qualifies.
    """
    fitting = [k for k in range(2, most + 1) if below(assessment, k) <= persons]
    return max(fitting, default=2)


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """Result of the evaluation of all combinations of known attributes.

    ``order``: a record of each person, in the order of the heatmap from left to right.
    """

    people: People
    order: NDArray[np.intp]


def _look(visit: Visit) -> Response:
    """Evaluate all combinations of known attributes in the background."""

    def work(now: Moment, hook: Hook) -> Looked:
        people = peers(now.table(hook), now.policy, progress=hook)
        return Looked(people, persons_in_order(people))

    visit.now.begin("peers", work, _map, basis=Basis.REQUIRED, anew=True)
    return visit.back("assess")


def _map(looked: Looked) -> Iterator[Block | Spotted]:
    """Draw the heatmap of all individuals. A click on a band shows an individual of that band."""

    def places(marks: Marks) -> list[Spot]:
        bands = marks.images()[0].sliced(BANDS)
        return [
            Spot(box, f"/assess/person?part={place}", f"individuals in band {place + 1} of {BANDS}, from the left")
            for place, box in enumerate(bands)
        ]

    people = looked.people
    yield Spotted.of(charts.heatmap(people), "#person", places)
    yield Section.of(
        "Number of known attributes required for disclosure",
        "how-many-facts",
        [Figure(charts.facts(people)), people.sheet()],
    )


def _person(visit: Visit) -> Response:
    """Show the attributes that disclose one individual, by column name and without values."""
    looked: Looked | None = visit.now.result("peers", Basis.REQUIRED)
    if looked is None:
        raise ModelError(
            "not-computed", "The combinations have not been evaluated yet.", remedy="Start the evaluation first."
        )
    order = looked.order
    part, given = visit.number("part", 0, BANDS - 1), visit.number("place", 1, len(order))
    if part is None and given is None:
        raise ModelError(
            "no-such-rank", "There is no such rank.", remedy="Give a number from 1 to {last:,}.", last=len(order)
        )
    place = (given or 1) - 1 if part is None else part * len(order) // BANDS
    record = int(order[place])
    facts = looked.people.for_person(record)
    return visit.part("person", place=place + 1, last=len(order), record=record + 1, facts=facts)


ROUTES = [
    route("/assess", _show, several=dataset.show_assess),
    route("/assess/threshold", _threshold),
    route("/assess/peers", _look, ["POST"]),
    route("/assess/person", _person),
]
