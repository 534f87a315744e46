"""Assess: how safe everybody is, as the table stands."""

from collections.abc import Iterator
from fractions import Fraction

from starlette.responses import Response

from shoal import charts
from shoal.assessment import Assessment, assess
from shoal.charts.chart import Chart
from shoal.errors import ModelError, PolicyError
from shoal.individuals.people import People
from shoal.peering import peers
from shoal.web.jobs import State
from shoal.web.page import Visit, route

USUAL, MOST = 11, 50  # the k that sliders begin with, and the largest that they offer


def _show(visit: Visit) -> Response:
    project = visit.project
    if project.source is None:
        return visit.back("load")
    if not any(said.role == "quasi" for said in project.policy.columns.values()):
        return visit.back("identify")
    job = project.begin("assess", lambda hook: assess(project.table(hook), project.policy, progress=hook))
    looked = project.found("peers")
    return visit.show("assess", job=job, draw=_pictures, looked=looked, heatmap=_heatmap(visit), most=MOST, k=USUAL)


def _pictures(found: Assessment) -> Iterator[Chart]:
    yield charts.risks({"the table": found}, Fraction(1, USUAL))
    yield charts.class_sizes(found, least=USUAL)


def _heatmap(visit: Visit) -> Chart | None:
    people = _people(visit)
    return None if people is None else charts.heatmap(people)


def _people(visit: Visit) -> People | None:
    job = visit.project.found("peers")
    return job.result if job is not None and job.state is State.DONE else None


def _threshold(visit: Visit) -> Response:
    """Show what a threshold means: who is above it, and how many would have to be left out if nothing else is done."""
    job = visit.project.found("assess")
    if job is None or job.state is not State.DONE:
        raise PolicyError("The table was not assessed yet.", hint="Load the page again.")
    found: Assessment = job.result
    given = visit.request.query_params
    if "limit" in given:
        k = largest(found, float(given["limit"]) / 100)
    else:
        k = min(max(int(given.get("k", USUAL)), 2), MOST)
    above = below(found, k)
    return visit.part("threshold", k=k, most=MOST, above=above, found=found, share=above / max(found.persons, 1))


def below(found: Assessment, k: int) -> int:
    """Return how many persons look like fewer than k, themselves included."""
    return sum(persons for size, persons in found.sizes.items() if size < k)


def largest(found: Assessment, limit: float) -> int:
    """Return the largest k for which at most a share of the persons would have to be left out."""
    fitting = [k for k in range(2, MOST + 1) if below(found, k) <= limit * found.persons]
    return max(fitting, default=2)


def _look(visit: Visit) -> Response:
    """Look at every combination of facts, in the background."""
    project = visit.project
    project.begin("peers", lambda hook: peers(project.table(hook), project.policy, progress=hook))
    return visit.back("assess")


def _person(visit: Visit) -> Response:
    """Show which facts give one person away: names of columns, and no values."""
    people = _people(visit)
    number = visit.request.query_params.get("number", "")
    if people is None or not number.isdecimal() or not 1 <= int(number) <= len(people):
        raise ModelError("There is no such record.", hint="Give a number from 1 to that of the last record.")
    return visit.part("person", number=int(number), facts=people.for_person(int(number) - 1))


ROUTES = [
    route("/assess", _show),
    route("/assess/threshold", _threshold),
    route("/assess/peers", _look, ["POST"]),
    route("/assess/person", _person),
]
