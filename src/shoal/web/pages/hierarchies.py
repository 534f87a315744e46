"""How each column may become coarser: hierarchies, with the number of values on each level; weights and levels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from starlette.responses import Response

from shoal.charts.ladder import ladder
from shoal.errors import PolicyError, ShoalError
from shoal.hierarchy.automatic import Automatic
from shoal.hierarchy.spec import KINDS, Spec, bind
from shoal.policy.columns import ColumnPolicy
from shoal.progress import Hook, silent
from shoal.validation import validated
from shoal.web.forms import Field, fields, filled_in
from shoal.web.page import PATIENCE, Visit, route
from shoal.web.pages.load import taken
from shoal.web.project import Basis, Moment
from shoal.words import first_sentence


@dataclass(frozen=True, slots=True)
class Ladder:
    """``counts``: how many values there are on each level that says something; ``error``: why there is no ladder."""

    kind: str
    counts: tuple[int, ...] = ()
    error: ShoalError | None = None


def _ladders(visit: Visit) -> Response:
    """Show all ladders, and how much each column counts."""
    job = visit.project.begin("ladders", _climbed, basis=Basis.REQUIRED)
    job.wait(PATIENCE)
    search = visit.project.policy.search
    linked = {name: said.linked for name, said in visit.project.policy.columns.items() if said.linked}
    return visit.part("ladders", job=job, linked=linked, weights=search.weights, levels=search.levels)


def _climbed(now: Moment, hook: Hook) -> dict[str, Ladder]:
    table = now.table(hook)
    found = {}
    for name, said in now.policy.columns.items():
        if said.role == "quasi":
            spec = _spec(said)
            try:
                bound = bind(spec, table, name, now.policy.beside(""))
                used = np.bincount(table.codes(name), minlength=table[name].size)
                levels = (np.bincount(bound.nodes(level), used) for level in range(bound.height))
                found[name] = Ladder(spec.kind, tuple(int(np.count_nonzero(held)) for held in levels))
            except ShoalError as error:
                found[name] = Ladder(spec.kind, error=error)
    return found


def _spec(said: ColumnPolicy) -> Spec:
    return said.hierarchy or Automatic()


def _weigh(visit: Visit) -> Response:
    """Set how much each column counts, and between which levels it may be."""
    found: Mapping[str, Ladder] | None = visit.project.result("ladders", Basis.REQUIRED)
    if found is None:
        raise PolicyError("The hierarchies were not looked at yet.", hint="Load the page again.")
    weights, levels = {}, {}
    for name, held in found.items():
        weight, low, high = (
            _number(visit, f"{part}:{name}", usual)
            for part, usual in (("weight", 1.0), ("low", 0.0), ("high", float(len(held.counts))))
        )
        if weight != 1:
            weights[name] = weight
        if (low, high) != (0, len(held.counts)):
            levels[name] = [int(low), int(high)]
    search = visit.project.policy.document().get("search", {})
    kept = {name: held for name, held in search.items() if name not in {"weights", "levels"}}
    more = {name: held for name, held in (("weights", weights), ("levels", levels)) if held}
    visit.project.change({"search": {**kept, **more}})
    return visit.back("protect")


def _number(visit: Visit, name: str, usual: float) -> float:
    text = str(next(iter(visit.form.get(name, [""])), "")).strip()
    try:
        return float(text) if text else usual
    except ValueError:
        raise PolicyError(f"What is said of {name.partition(':')[2]} is no number.") from None


def _edit(visit: Visit) -> Response:
    """Show the hierarchy of a column as it is."""
    name = visit.request.query_params.get("column", "")
    said = _column(visit, name)
    spec = _spec(said)
    held = {} if said.hierarchy is None else said.hierarchy.model_dump(mode="json", exclude_unset=True)
    return _editor(visit, name, spec.kind, fields(KINDS[spec.kind], held), spec)


def _try(visit: Visit) -> Response:
    """Show what a hierarchy would be like: the ladder, and how many values each level has."""
    name, kind = (str(next(iter(visit.form.get(key, [""])), "")) for key in ("column", "kind"))
    _column(visit, name)
    asked = fields(KINDS[kind], _filled_in(visit, kind))
    return _editor(visit, name, kind, asked, None)


def _editor(visit: Visit, name: str, kind: str, asked: list[Field], spec: Spec | None) -> Response:
    picture, error = None, None
    try:
        given = {one.name: one.value for one in asked if one.value not in (None, [], "")}
        made = spec or validated(KINDS[kind], given, where="The hierarchy", error=PolicyError)
        table = visit.project.now.table(silent)
        bound = bind(made, table, name, visit.project.policy.beside(""))
        picture = ladder(bound, np.bincount(table.codes(name), minlength=table[name].size))
    except ShoalError as caught:
        error = caught
    kinds = {one: first_sentence(KINDS[one]) for one in KINDS}
    return visit.part("hierarchy", column=name, kind=kind, kinds=kinds, fields=asked, picture_of=picture, error=error)


def _column(visit: Visit, name: str) -> ColumnPolicy:
    said = visit.project.policy.columns.get(name)
    if said is None:
        raise PolicyError("There is no such column.")
    return said


def _filled_in(visit: Visit, kind: str) -> dict[str, Any]:
    """Return what was filled in; a file that was sent is taken."""
    held = filled_in(fields(KINDS[kind]), visit.form)
    sent = taken(visit, "sent")
    return {**held, "file": str(sent)} if sent is not None and kind == "explicit" else held


def _save(visit: Visit) -> Response:
    name, kind = (str(next(iter(visit.form.get(key, [""])), "")) for key in ("column", "kind"))
    _column(visit, name)
    columns = visit.project.policy.document().get("columns", {})
    columns[name] = {**columns[name], "hierarchy": {"kind": kind, **dict(_said(visit, kind))}}
    visit.project.change({"columns": columns})
    return visit.back("protect")


def _said(visit: Visit, kind: str) -> Iterator[tuple[str, Any]]:
    """Return what differs from what is usual."""
    usual = {one.name: one.value for one in fields(KINDS[kind])}
    for name, value in _filled_in(visit, kind).items():
        if value != usual[name]:
            yield name, value


ROUTES = [
    route("/protect/ladders", _ladders),
    route("/protect/ladders", _weigh, ["POST"]),
    route("/protect/hierarchy", _edit),
    route("/protect/hierarchy/try", _try, ["POST"]),
    route("/protect/hierarchy", _save, ["POST"]),
]
