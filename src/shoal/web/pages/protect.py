"""Protect: what is required, how columns may become coarser, and the search for the best release."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from starlette.responses import Response

from shoal import toml
from shoal.anonymization import anonymize, frontier, schemes
from shoal.charts.frontier import frontier as draw_frontier
from shoal.charts.ladder import ladder
from shoal.charts.lattice import lattice
from shoal.errors import PolicyError, ShoalError
from shoal.hierarchy.spec import KINDS, bind
from shoal.models.model import MODELS
from shoal.policy.policy import Policy
from shoal.policy.search import Search
from shoal.presets.preset import PRESETS
from shoal.progress import silent
from shoal.search.schemes import Schemes
from shoal.validation import validated
from shoal.web.forms import fields, filled_in
from shoal.web.jobs import State
from shoal.web.page import PATIENCE, Visit, route

_SEARCH = ("recoding", "suppression", "quality", "outliers", "refine", "sample", "seconds", "seed")
WORK: dict[str, Callable[..., Any]] = {"anonymize": anonymize, "frontier": frontier, "schemes": schemes}


def _show(visit: Visit) -> Response:
    project, policy = visit.project, visit.project.policy
    quasi = [name for name, said in policy.columns.items() if said.role == "quasi"]
    if project.source is None or not quasi:
        return visit.back("identify" if project.source is not None else "load")
    jobs = {name: project.found(name) for name in WORK}
    for job in jobs.values():
        if job is not None:
            job.wait(PATIENCE)
    running = next((job for job in jobs.values() if job is not None and job.state is State.RUNNING), None)
    search = [one for one in fields(Search, policy.search.model_dump(mode="json")) if one.name in _SEARCH]
    done = {name: job.result for name, job in jobs.items() if job is not None and job.state is State.DONE}
    failed = [job for job in jobs.values() if job is not None and job.state is State.FAILED]
    return visit.show(
        "protect",
        job=running,
        done=done,
        failed=failed,
        quasi=quasi,
        models=list(MODELS),
        presets=[PRESETS[name] for name in PRESETS],
        search=search,
        asked=policy.document().get("require", []),
        drawn=_drawn(done),
        text=toml.document(policy.document()),
    )


def _drawn(done: dict[str, Any]) -> dict[str, Any]:
    drawn = {}
    if "frontier" in done and any(point.price is not None for point in done["frontier"].points):
        drawn["frontier"] = draw_frontier(done["frontier"])
    if "schemes" in done:
        drawn["schemes"] = lattice(done["schemes"])
    return drawn


def _fields(visit: Visit) -> Response:
    """Show the fields of a model."""
    name = visit.request.query_params.get("model", "")
    sensitive = [held for held, said in visit.project.policy.columns.items() if said.role == "sensitive"]
    return visit.part("fields", fields=fields(MODELS[name], choices={"column": sensitive}))


def _require(visit: Visit) -> Response:
    """Add a requirement: a model with its parameters, or a preset."""
    said = visit.project.policy.document().get("require", [])
    preset, model = (str(next(iter(visit.form.get(name, [""])), "")) for name in ("preset", "model"))
    if preset:
        more = {"preset": preset}
    elif model:
        more = {"model": model, **filled_in(fields(MODELS[model]), visit.form)}
    else:
        raise PolicyError("Nothing was chosen.")
    visit.project.change({"require": [*said, more]})
    return visit.back("protect")


def _rewrite(visit: Visit) -> Response:
    """Take a policy that was written by hand."""
    visit.project.save_policy(Policy.parse(str(visit.form.get("text", [""])[0])))
    return visit.back("protect")


def _drop(visit: Visit) -> Response:
    said = visit.project.policy.document().get("require", [])
    place = visit.request.path_params["place"]
    visit.project.change({"require": [one for number, one in enumerate(said) if number != place]})
    return visit.back("protect")


def _settings(visit: Visit) -> Response:
    """Change how the release is searched for."""
    before = visit.project.policy.document().get("search", {})
    asked = [one for one in fields(Search) if one.name in _SEARCH]
    kept = {name: held for name, held in before.items() if name not in _SEARCH}
    visit.project.change({"search": {**kept, **filled_in(asked, visit.form)}})
    return visit.back("protect")


def _hierarchy(visit: Visit) -> Response:
    """Show the hierarchy of a column, or what it would be like: the ladder, and how many values each level has."""
    given = visit.request.query_params
    name = given.get("column", "")
    said = visit.project.policy.columns.get(name)
    if said is None:
        raise PolicyError("There is no such column.")
    held = {} if said.hierarchy is None else said.hierarchy.model_dump(mode="json", exclude_unset=True)
    kind = given.get("kind") or (said.hierarchy.kind if said.hierarchy is not None else "auto")
    asked = fields(KINDS[kind], held if said.hierarchy is not None and kind == said.hierarchy.kind else {})
    if "preview" in given:
        asked = fields(KINDS[kind], filled_in(asked, {key: given.getlist(key) for key in given}))
    picture, error = None, None
    try:
        spec = validated(KINDS[kind], {one.name: one.value for one in asked if one.value not in (None, [], "")},
                         where="The hierarchy", error=PolicyError)  # fmt: skip
        table = visit.project.table(silent)
        bound = bind(spec, table, name, visit.project.policy.beside(""))
        picture = ladder(bound, np.bincount(table.codes(name), minlength=table[name].size))
    except ShoalError as caught:
        error = caught
    return visit.part(
        "hierarchy", column=name, kind=kind, kinds=list(KINDS), fields=asked, picture=picture, error=error
    )


def _save_hierarchy(visit: Visit) -> Response:
    name, kind = (str(visit.form[key][0]) for key in ("column", "kind"))
    columns = visit.project.policy.document().get("columns", {})
    if name not in columns:
        raise PolicyError("There is no such column.")
    columns[name] = {**columns[name], "hierarchy": {"kind": kind, **filled_in(fields(KINDS[kind]), visit.form)}}
    visit.project.change({"columns": columns})
    return visit.back("protect")


def _begin(visit: Visit) -> Response:
    """Begin a search in the background."""
    name = visit.request.path_params["name"]
    if name not in WORK:
        raise PolicyError("There is no such search.")
    project, work, policy = visit.project, WORK[name], visit.project.policy
    project.begin(name, lambda hook: work(project.table(hook), policy, progress=hook))
    return visit.back("protect")


def _scheme(visit: Visit) -> Response:
    """Show one scheme, and those one step away from it."""
    found = _all_schemes(visit)
    given = visit.request.query_params
    levels = _levels(found, {name: [value] for name, value in given.items()})
    place = found.place(levels)
    return visit.part(
        "scheme",
        scheme=levels,
        meets=bool(found.meets[place]),
        cost=float(found.prices[place]),
        left_out=int(found.suppressed[place]),
        lowest=dict(zip(found.names, found.levels.min(axis=0).tolist(), strict=True)),
        highest=dict(zip(found.names, found.levels.max(axis=0).tolist(), strict=True)),
        beside=list(_beside(found, place)),
    )


def _all_schemes(visit: Visit) -> Schemes:
    job = visit.project.found("schemes")
    if job is None or job.state is not State.DONE:
        raise PolicyError("The lattice was not explored yet.", hint="Explore it first.")
    held: Schemes = job.result
    return held


def _levels(found: Schemes, form: Mapping[str, Sequence[Any]]) -> dict[str, int]:
    """Return the levels that were filled in; those of the best scheme, or the lowest, where nothing was."""
    start = found.scheme(found.best if found.best is not None else 0)
    said = {name: str(next(iter(form.get(f"level:{name}", [""])), "")) for name in found.names}
    top = found.levels.max(axis=0)
    return {
        name: min(int(text), int(high)) if (text := said[name]).isdecimal() else start[name]
        for name, high in zip(found.names, top, strict=True)
    }


def _beside(found: Schemes, place: int) -> Iterator[dict[str, Any]]:
    """Return the schemes one step finer and one step coarser."""
    near = np.flatnonzero(np.abs(found.levels - found.levels[place]).sum(axis=1) == 1)
    for other in near.tolist():
        column = int(np.flatnonzero(found.levels[other] != found.levels[place])[0])
        yield {
            "column": found.names[column],
            "level": int(found.levels[other, column]),
            "cost": float(found.prices[other]),
            "left_out": int(found.suppressed[other]),
            "meets": bool(found.meets[other]),
        }


def _fix(visit: Visit) -> Response:
    """Search on some levels only."""
    levels = _levels(_all_schemes(visit), visit.form)
    search = visit.project.policy.document().get("search", {})
    fixed = {name: [level, level] for name, level in levels.items()}
    visit.project.change({"search": {**search, "recoding": "global", "levels": fixed}})
    return visit.back("protect")


def _free(visit: Visit) -> Response:
    """Search on all levels again."""
    search = visit.project.policy.document().get("search", {})
    visit.project.change({"search": {name: held for name, held in search.items() if name != "levels"}})
    return visit.back("protect")


def _choose(visit: Visit) -> Response:
    """Take a point of the frontier: its k and its limit."""
    k, limit = int(visit.form["k"][0]), float(visit.form["limit"][0])
    held = visit.project.policy.document()
    others = [one for one in held.get("require", []) if one.get("model") != "k-anonymity"]
    search = {**held.get("search", {}), "suppression": limit}
    visit.project.change({"require": [{"model": "k-anonymity", "k": k}, *others], "search": search})
    return visit.back("protect")


ROUTES = [
    route("/protect", _show),
    route("/protect/fields", _fields),
    route("/protect/require", _require, ["POST"]),
    route("/protect/require/{place:int}/drop", _drop, ["POST"]),
    route("/protect/search", _settings, ["POST"]),
    route("/protect/policy", _rewrite, ["POST"]),
    route("/protect/hierarchy", _hierarchy),
    route("/protect/hierarchy", _save_hierarchy, ["POST"]),
    route("/protect/begin/{name}", _begin, ["POST"]),
    route("/protect/choose", _choose, ["POST"]),
    route("/protect/scheme", _scheme),
    route("/protect/levels", _fix, ["POST"]),
    route("/protect/levels/free", _free, ["POST"]),
]
