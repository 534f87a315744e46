"""Assess: how safe everybody is, as the table stands."""

from collections.abc import Iterator
from fractions import Fraction

from starlette.responses import Response

from shoal import charts
from shoal.assessment import Assessment, assess
from shoal.charts.chart import Chart
from shoal.web.page import Visit, route


def _show(visit: Visit) -> Response:
    project = visit.project
    if project.source is None:
        return visit.back("load")
    if not any(said.role == "quasi" for said in project.policy.columns.values()):
        return visit.back("identify")
    job = project.begin("assess", lambda hook: assess(project.table(hook), project.policy, progress=hook))
    return visit.show("assess", job=job, draw=_pictures)


def _pictures(found: Assessment) -> Iterator[Chart]:
    yield charts.risks({"the table": found}, Fraction(1, 11))
    yield charts.class_sizes(found, least=11)


ROUTES = [route("/assess", _show)]
