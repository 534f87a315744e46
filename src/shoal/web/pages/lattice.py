"""The lattice of schemes, and what every k costs: both can be pressed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from starlette.responses import Response

from shoal import charts
from shoal.errors import PolicyError
from shoal.reporting.document import Block
from shoal.search.frontier import Frontier, Point
from shoal.search.schemes import Schemes
from shoal.verbs.frontier import frontier
from shoal.verbs.schemes import schemes
from shoal.web.jobs import Job
from shoal.web.page import Visit, route
from shoal.web.project import Basis, Moment
from shoal.web.spots import Marks, Spot, Spotted

_MANY = 1_000_000_000  # persons


def begin(now: Moment, name: str) -> Job:
    """Begin to look at all schemes, or at what every k costs."""
    if name == "frontier":
        return now.begin(
            name,
            lambda now, hook: frontier(now.table(hook), now.policy, progress=hook),
            _costs,
            basis=Basis.FRONTIER,
            anew=True,
        )
    return now.begin(name, lambda now, hook: schemes(now.table(hook), now.policy, progress=hook), _drawn, anew=True)


def exploring(now: Moment) -> dict[str, Job | None]:
    """Return what has come of both."""
    return {"frontier": now.found("frontier", Basis.FRONTIER), "schemes": now.found("schemes")}


def _costs(found: Frontier) -> Iterator[Block | Spotted]:
    points = [point for point in found.points if point.price is not None]
    if points:
        yield Spotted.of(charts.frontier(found), "#message", lambda marks: _points(marks, points))


def _points(marks: Marks, points: list[Point]) -> list[Spot]:
    """Return the points; where several have the same place, the one that leaves out fewest lies on top."""
    pairs = sorted(zip(marks.points(), points, strict=True), key=lambda pair: -pair[1].limit)
    return [
        Spot(
            box,
            "/protect/choose",
            f"Choose k = {point.k} with {100 * point.limit:g} % left out: cost {point.price:.3f}",
            {"k": str(point.k), "limit": str(point.limit)},
        )
        for box, point in pairs
    ]


def _drawn(found: Schemes) -> Iterator[Block | Spotted]:
    chart = charts.lattice(found)
    places = [int(value["id"]) for value in chart.spec["data"]["values"]]

    def spots(marks: Marks) -> list[Spot]:
        return [
            Spot(box, f"/protect/scheme?place={place}", f"levels {' '.join(map(str, found.levels[place]))}")
            for box, place in zip(marks.points(), places, strict=True)
        ]

    yield Spotted.of(chart, "#scheme", spots)


def _choose(visit: Visit) -> Response:
    """Require a k; of a point of the frontier also the limit."""
    k, limit = visit.number("k", 1, _MANY), visit.text("limit")
    try:
        more = {"suppression": float(limit)} if limit else {}
    except ValueError:
        k = None
    if k is None:
        raise PolicyError("There is no such point.", hint="Choose one of the picture.")

    def chosen(policy: dict[str, Any]) -> dict[str, Any]:
        others = [one for one in policy.get("require", []) if one.get("model") != "k-anonymity"]
        return {
            "require": [{"model": "k-anonymity", "k": k}, *others],
            "search": {**policy.get("search", {}), **more},
        }

    visit.project.edit(chosen)
    return visit.back("protect")


def _scheme(visit: Visit) -> Response:
    """Show one scheme, and those one step away from it."""
    found = _all_schemes(visit)
    place = _place(visit, found)
    return visit.part(
        "scheme",
        scheme=found.scheme(place),
        place=place,
        here=_told(found, place),
        beside=list(_beside(found, place)),
        quality=found.quality,
        persons=found.persons,
    )


def _all_schemes(visit: Visit) -> Schemes:
    found: Schemes | None = visit.now.result("schemes")
    if found is None:
        raise PolicyError("The lattice was not explored yet.", hint="Explore it first.")
    return found


def _place(visit: Visit, found: Schemes) -> int:
    """Return the scheme that was asked for: the best, or the lowest, if nothing was said."""
    place = visit.number("place", 0, len(found) - 1)
    return place if place is not None else found.best or 0


def _told(found: Schemes, place: int) -> dict[str, Any]:
    return {
        "place": place,
        "cost": float(found.prices[place]),
        "left_out": int(found.suppressed[place]),
        "meets": bool(found.meets[place]),
    }


def _beside(found: Schemes, place: int) -> Iterator[dict[str, Any]]:
    """Return the schemes one step finer and one step coarser."""
    near = np.flatnonzero(np.abs(found.levels - found.levels[place]).sum(axis=1) == 1)
    for other in near.tolist():
        column = int(np.flatnonzero(found.levels[other] != found.levels[place])[0])
        before, level = int(found.levels[place, column]), int(found.levels[other, column])
        yield {
            "column": found.names[column],
            "level": level,
            "way": "coarser" if level > before else "finer",
            **_told(found, other),
        }


def _fix(visit: Visit) -> Response:
    """Search on the levels of one scheme only."""
    found = _all_schemes(visit)
    fixed = {name: [level, level] for name, level in found.scheme(_place(visit, found)).items()}
    visit.project.edit(lambda policy: {"search": {**policy.get("search", {}), "recoding": "global", "levels": fixed}})
    return visit.back("protect")


def _free(visit: Visit) -> Response:
    """Search on all levels again."""
    visit.project.edit(
        lambda policy: {"search": {name: held for name, held in policy.get("search", {}).items() if name != "levels"}}
    )
    return visit.back("protect")


def _explored(visit: Visit) -> Response:
    """Show what was explored."""
    done = {name: job for name, job in exploring(visit.now).items() if job is not None and job.blocks}
    return visit.part("explored", done=done)


ROUTES = [
    route("/protect/explored", _explored),
    route("/protect/choose", _choose, ["POST"]),
    route("/protect/scheme", _scheme),
    route("/protect/levels", _fix, ["POST"]),
    route("/protect/levels/free", _free, ["POST"]),
]
