"""Compare: information loss and utility of the release, shown as chapters of the report."""

from collections.abc import Iterator

from starlette.responses import Response

from shoal.analyses.learning import Learned
from shoal.errors import ReleaseError
from shoal.progress import Hook
from shoal.release.part import ReleasePart
from shoal.release.release import Release
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.risk import risk
from shoal.reporting.chapters.summary import summary
from shoal.reporting.chapters.utility import utility
from shoal.reporting.chapters.variables import variables
from shoal.reporting.document import Block, Section
from shoal.reporting.findings import Findings
from shoal.reporting.made_release import of_release
from shoal.sheet import Sheet
from shoal.web.page import Visit, route
from shoal.web.pages import dataset
from shoal.web.pages.protect import confirmations
from shoal.web.project import Moment
from shoal.web.tried import remembered

OWNER = Audience(external=False, least=1)


def released(visit: Visit) -> Release | None:
    """Return the release made with the current policy, if there is one."""
    release: Release | None = visit.now.result("anonymize")
    return release


def _show(visit: Visit) -> Response:
    release, tried = released(visit), remembered(visit.now) if visit.now.source is not None else []
    if release is None:
        return visit.show("compare", release=None, tried=tried)
    job = visit.now.begin("findings", lambda _, hook: of_release(release, hook), _told)
    learned = visit.now.job("learning")
    return visit.show(
        "compare",
        job=job,
        release=release,
        tried=tried,
        learned=learned,
        targets=_targets(release.part),
        confirm=confirmations(visit.now),
    )


def _told(findings: Findings) -> Iterator[Block]:
    for chapter in (summary, variables, utility, risk):
        yield chapter(findings, OWNER)
    if findings.advice is not None:
        yield Section.of("Advice", "advice", [findings.advice.lost_sheet(), findings.advice.alternatives_sheet()])


def _targets(part: ReleasePart) -> list[str]:
    """Return the columns that can be predicted: not quasi-identifiers, and with more than one value."""
    table, quasi = next(iter(part.promise.tables.values())), set(part.given.quasi)
    return [name for name in table.names if name in part.given and name not in quasi and len(table[name].values) > 1]


def _learn(visit: Visit) -> Response:
    """Predict a column from the release and from the original, and compare the results."""
    findings: Findings | None = visit.now.result("findings")
    target = visit.text("target")
    if findings is None or findings.part is None or target not in _targets(findings.part):
        raise ReleaseError(
            "nothing-to-predict",
            "No released column can be predicted: all are quasi-identifiers or constant.",
            remedy="Search for a release first.",
        )

    def work(_: Moment, hook: Hook) -> Learned:
        return findings.comparison.learning(target, progress=hook)

    visit.now.again("learning", work, _predicted)
    return visit.back("compare")


def _predicted(learned: Learned) -> Iterator[Sheet]:
    yield learned.sheet()


def _again(visit: Visit) -> Response:
    """Restore the policy of an earlier release."""
    name = visit.text("tried")
    earlier = next((tried for tried in remembered(visit.now) if tried.name == name), None)
    if earlier is None:
        raise ReleaseError("not-computed", "This has not been computed for these data.", remedy="Reload the page.")
    visit.project.rewrite(earlier.policy)
    return visit.back("protect")


ROUTES = [
    route("/compare", _show, several=dataset.show_compare),
    route("/compare/learning", _learn, ["POST"]),
    route("/compare/tried", _again, ["POST"]),
]
