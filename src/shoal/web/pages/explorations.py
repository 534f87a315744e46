"""Explorations beside the search: all schemes and the cost of every k, both with clickable points; all techniques."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from starlette.responses import Response

from shoal import charts
from shoal.errors import PolicyError
from shoal.progress import Hook
from shoal.reporting.chapters.choice import technique_blocks
from shoal.reporting.document import Block
from shoal.search.frontier import Frontier, FrontierPoint
from shoal.search.schemes import Schemes
from shoal.techniques.technique import Gives, giving
from shoal.verbs.compare_techniques import compare_techniques
from shoal.verbs.frontier import frontier
from shoal.verbs.schemes import schemes
from shoal.web.jobs import Job
from shoal.web.page import Visit, route
from shoal.web.project import Basis, Moment
from shoal.web.spots import Marks, Spot, Spotted
from shoal.words import share, short

_MANY = 1_000_000_000  # upper bound of k


@dataclass(frozen=True, slots=True)
class _Exploration:
    """What is computed, how the result is shown, and which settings it depends on."""

    work: Callable[[Moment, Hook], Any]
    tell: Callable[[Any], Iterator[Block] | Iterator[Block | Spotted]]
    basis: Basis = Basis.POLICY


def begin(now: Moment, name: str) -> Job:
    """Start an exploration."""
    asked = _EXPLORATIONS[name]
    return now.begin(name, asked.work, asked.tell, basis=asked.basis, anew=True)


def exploring(now: Moment) -> dict[str, Job | None]:
    """Return all jobs by name, None for a job that was not started."""
    return {name: now.job(name, asked.basis) for name, asked in _EXPLORATIONS.items()}


def _costs(frontier: Frontier) -> Iterator[Block | Spotted]:
    points = [point for point in frontier.points if point.price is not None]
    if points:
        yield Spotted.of(charts.frontier(frontier), "#message", lambda marks: _points(marks, points))


def _points(marks: Marks, points: list[FrontierPoint]) -> list[Spot]:
    """Return the clickable points. Where several coincide, the one with the lowest suppression limit lies on top."""
    pairs = sorted(zip(marks.points(), points, strict=True), key=lambda pair: -pair[1].limit)
    return [
        Spot(
            box,
            "/protect/choose",
            f"Use k = {point.k} with at most {share(point.limit)} suppressed: information loss {short(point.price)}",
            {"k": str(point.k), "limit": str(point.limit)},
        )
        for box, point in pairs
    ]


def _drawn(schemes: Schemes) -> Iterator[Block | Spotted]:
    chart = charts.lattice(schemes)
    places = [int(value["id"]) for value in chart.spec["data"]["values"]]

    def spots(marks: Marks) -> list[Spot]:
        return [
            Spot(box, f"/protect/scheme?place={place}", f"levels {' '.join(map(str, schemes.levels[place]))}")
            for box, place in zip(marks.points(), places, strict=True)
        ]

    yield Spotted.of(chart, "#scheme", spots)


_EXPLORATIONS = {
    "frontier": _Exploration(
        lambda now, hook: frontier(now.table(hook), now.policy, progress=hook), _costs, Basis.FRONTIER
    ),
    "schemes": _Exploration(lambda now, hook: schemes(now.table(hook), now.policy, progress=hook), _drawn),
    "techniques": _Exploration(
        lambda now, hook: compare_techniques(now.table(hook), now.policy, progress=hook), technique_blocks
    ),
}
NAMES = tuple(_EXPLORATIONS)


def _choose(visit: Visit) -> Response:
    """Require a value of k and, for a point of the frontier, its suppression limit."""
    k, limit = visit.number("k", 1, _MANY), visit.text("limit")
    try:
        more = {"suppression": float(limit)} if limit else {}
    except ValueError:
        k = None
    if k is None:
        raise PolicyError("no-such-point", "There is no such point.", remedy="Select a point of the chart.")

    def chosen(policy: dict[str, Any]) -> dict[str, Any]:
        others = [requirement for requirement in policy.get("require", []) if requirement.get("model") != "k-anonymity"]
        return {
            "require": [{"model": "k-anonymity", "k": k}, *others],
            "search": {**policy.get("search", {}), **more},
        }

    visit.project.edit(chosen)
    return visit.back("protect")


def _scheme(visit: Visit) -> Response:
    """Show a scheme and its neighbours in the lattice."""
    schemes = _all_schemes(visit)
    place = _place(visit, schemes)
    return visit.part(
        "scheme",
        scheme=schemes.scheme(place),
        place=place,
        here=_told(schemes, place),
        beside=list(_beside(schemes, place)),
        quality=schemes.quality,
        persons=schemes.persons,
    )


def _all_schemes(visit: Visit) -> Schemes:
    schemes: Schemes | None = visit.now.result("schemes")
    if schemes is None:
        raise PolicyError("not-computed", "The lattice has not been explored yet.", remedy="Explore it first.")
    return schemes


def _place(visit: Visit, schemes: Schemes) -> int:
    """Return the requested scheme; by default the best one, or the lowest if there is no best."""
    place = visit.number("place", 0, len(schemes) - 1)
    return place if place is not None else schemes.best or 0


def _told(schemes: Schemes, place: int) -> dict[str, Any]:
    return {
        "place": place,
        "cost": float(schemes.prices[place]),
        "left_out": int(schemes.suppressed[place]),
        "meets": bool(schemes.meets[place]),
    }


def _beside(schemes: Schemes, place: int) -> Iterator[dict[str, Any]]:
    """Yield the neighbouring schemes: one level lower or higher in one column."""
    near = np.flatnonzero(np.abs(schemes.levels - schemes.levels[place]).sum(axis=1) == 1)
    for other in near.tolist():
        column = int(np.flatnonzero(schemes.levels[other] != schemes.levels[place])[0])
        before, level = int(schemes.levels[place, column]), int(schemes.levels[other, column])
        yield {
            "column": schemes.names[column],
            "level": level,
            "way": "coarser" if level > before else "finer",
            **_told(schemes, other),
        }


def _fix(visit: Visit) -> Response:
    """Restrict the search to the levels of one scheme."""
    schemes = _all_schemes(visit)
    fixed = {name: [level, level] for name, level in schemes.scheme(_place(visit, schemes)).items()}
    by_scheme = giving(Gives.SCHEME)[0].called()
    visit.project.edit(lambda policy: {"search": {**policy.get("search", {}), "recoding": by_scheme, "levels": fixed}})
    return visit.back("protect")


def _free(visit: Visit) -> Response:
    """Allow all levels in the search again."""
    visit.project.edit(
        lambda policy: {"search": {name: value for name, value in policy.get("search", {}).items() if name != "levels"}}
    )
    return visit.back("protect")


def _explored(visit: Visit) -> Response:
    """Show the results of the explorations."""
    done = {name: job for name, job in exploring(visit.now).items() if job is not None and job.blocks}
    return visit.part("explored", done=done)


ROUTES = [
    route("/protect/explored", _explored),
    route("/protect/choose", _choose, ["POST"]),
    route("/protect/scheme", _scheme),
    route("/protect/levels", _fix, ["POST"]),
    route("/protect/levels/free", _free, ["POST"]),
]
