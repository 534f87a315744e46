"""Attack: what an adversary achieves against the release."""

from collections.abc import Iterator
from typing import Any

from starlette.responses import Response

from shoal import charts
from shoal.attacks.attack import ATTACKS
from shoal.battery import Attacked, attack
from shoal.charts.chart import Chart
from shoal.errors import AttackError
from shoal.progress import Hook
from shoal.table.reading import read
from shoal.web.page import Visit, route
from shoal.web.pages.compare import released
from shoal.web.pages.load import taken


def _show(visit: Visit) -> Response:
    release = released(visit)
    job = None if release is None else visit.project.found("attack")
    default = [name for name in ATTACKS if ATTACKS[name].default]
    return visit.show("attack", job=job, draw=_pictures, release=release, attacks=default)


def _pictures(found: Attacked) -> Iterator[Chart]:
    if not found.results:
        return
    yield charts.wp216(found)
    yield charts.attacks(found)
    for one in sorted(found.results, key=lambda held: -held.lift)[:6]:
        if len(one.curve) > 1:
            yield charts.knowledge(one)


def _begin(visit: Visit) -> Response:
    """Attack the release in the background, in the ways that were chosen."""
    release = released(visit)
    if release is None:
        raise AttackError("There is no release yet.", hint="Search for one first.")
    chosen = [str(name) for name in visit.form.get("attack", [])]
    paths = {name: taken(visit, name) for name in ("external", "outsiders")}
    others = {name: path for name, path in paths.items() if path is not None}
    before = visit.project.found("attack")
    if before is not None:
        visit.project.jobs.forget(before)

    def work(hook: Hook) -> Attacked:
        held: dict[str, Any] = {name: read(path, progress=hook) for name, path in others.items()}
        return attack(release, release.given, attacks=chosen or None, progress=hook, **held)

    visit.project.begin("attack", work)
    return visit.back("attack")


ROUTES = [route("/attack", _show), route("/attack", _begin, ["POST"])]
