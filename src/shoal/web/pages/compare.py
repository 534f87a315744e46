"""Compare: what a release cost, and what it has kept."""

from collections.abc import Iterator

from starlette.responses import Response

from shoal import charts
from shoal.charts.chart import Chart
from shoal.comparison import Comparison, compare
from shoal.qualities.correlations import pairs
from shoal.release.release import Release
from shoal.web.jobs import State
from shoal.web.page import Visit, route

MOST = 12  # columns that are drawn


def released(visit: Visit) -> Release | None:
    """Return the release that was made by the policy as it is, if there is one."""
    job = visit.project.found("anonymize")
    return job.result if job is not None and job.state is State.DONE else None


def _show(visit: Visit) -> Response:
    release = released(visit)
    if release is None:
        return visit.show("compare", release=None)
    job = visit.project.begin("compare", lambda _: compare(release.given, release))
    return visit.show("compare", job=job, draw=_pictures, release=release)


def _pictures(found: Comparison) -> Iterator[Chart]:
    yield charts.costs({"the release": found.quality})
    if found.recoding.matched and pairs(found.recoding):
        yield charts.correlations(found.recoding)
    for column in found.recoding.columns[:MOST]:
        fates = found.columns.get(column.name)
        if fates is not None and (fates.coarser or fates.changed):
            yield charts.before_after(column)


ROUTES = [route("/compare", _show)]
