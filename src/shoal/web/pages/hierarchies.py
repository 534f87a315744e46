"""How each column may become coarser: hierarchies, with the number of values on each level; weights and levels."""

from collections.abc import Mapping
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
from shoal.web.forms import fields, filled_in
from shoal.web.jobs import Job, State
from shoal.web.page import PATIENCE, Visit, number, route
from shoal.web.pages.load import taken
from shoal.web.project import Basis, Moment, files_of
from shoal.words import first_sentence


@dataclass(frozen=True, slots=True)
class Ladder:
    """``counts``: how many values there are on each level that says something; ``error``: why there is no ladder."""

    kind: str
    counts: tuple[int, ...] = ()
    error: ShoalError | None = None


def _ladders(visit: Visit) -> Response:
    """Show all ladders, and how much each column counts."""
    job = _climbing(visit)
    policy = visit.now.policy
    search = policy.search
    return visit.part("ladders", job=job, linked=policy.leaders, weights=search.weights, levels=search.levels)


def _climbing(visit: Visit) -> Job:
    """Count the values on each level, and wait a moment for it."""
    job = visit.now.begin("ladders", _climbed, basis=Basis.REQUIRED)
    job.wait(PATIENCE)
    return job


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
    held = weights_and_levels(visit)
    visit.project.edit(lambda policy: {"search": {**policy.get("search", {}), **held}})
    return visit.back("protect")


def weights_and_levels(visit: Visit) -> dict[str, dict[str, Any]]:
    """Return what was filled in about columns; of a column that is not in the form, what was said before."""
    found: Mapping[str, Ladder] = visit.now.result("ladders", Basis.REQUIRED) or {}
    before = visit.now.policy.search
    weights, levels = dict(before.weights), {name: list(held) for name, held in before.levels.items()}
    for name, held in found.items():
        top = len(held.counts)
        if f"weight:{name}" in visit.form:
            weights[name] = _weight(visit, name)
        if f"low:{name}" in visit.form and f"high:{name}" in visit.form:
            levels[name] = [_level(visit, f"low:{name}", 0, top), _level(visit, f"high:{name}", top, top)]
            if levels[name] == [0, top]:
                del levels[name]
    return {"weights": {name: weight for name, weight in weights.items() if weight != 1}, "levels": levels}


def _weight(visit: Visit, name: str) -> float:
    try:
        return float(visit.text(f"weight:{name}") or 1)
    except ValueError:
        raise PolicyError(f"The weight of '{name}' is no number.") from None


def _level(visit: Visit, name: str, usual: int, top: int) -> int:
    if not visit.text(name).strip():
        return usual
    level = number(visit.text(name).strip(), 0, top)
    if level is None:
        raise PolicyError(f"A level of '{name.partition(':')[2]}' is none.", hint=f"Its levels go from 0 to {top}.")
    return level


def _edit(visit: Visit) -> Response:
    """Show the hierarchy of a column as it is, with a form for it."""
    name = visit.text("column")
    spec = _spec(_column(visit, name))
    return _editor(visit, name, spec.kind, _held(visit, name, spec.kind), spec)


def _other_kind(visit: Visit) -> Response:
    """Show the form for another kind of hierarchy."""
    name, kind = visit.text("column"), visit.text("kind")
    return _editor(visit, name, kind, _held(visit, name, kind))


def _editor(visit: Visit, name: str, kind: str, held: Mapping[str, Any], spec: Spec | None = None) -> Response:
    asked, kinds = fields(KINDS[kind], held), {one: first_sentence(KINDS[one]) for one in KINDS}
    preview = _preview(visit, name, kind, held, spec)
    return visit.part("hierarchy", column=name, kind=kind, kinds=kinds, fields=asked, **preview)


def _try(visit: Visit) -> Response:
    """Show what a hierarchy would be like, beside the form that is being filled in."""
    name, kind = visit.text("column"), visit.text("kind")
    return visit.part("preview", **_preview(visit, name, kind, _said(visit, name, kind)))


def _preview(visit: Visit, name: str, kind: str, held: Mapping[str, Any], spec: Spec | None = None) -> dict[str, Any]:
    """Draw the ladder with the number of values on each level, or tell why there is none."""
    if _climbing(visit).state is State.RUNNING:
        raise PolicyError("The values are still being counted.", hint="Try again in a moment.")
    try:
        made = spec or _made(kind, held)
        for file in files_of(made.model_dump(mode="json")):
            visit.project.check_file(file)
        table = visit.now.table(silent)
        bound = bind(made, table, name, visit.now.policy.beside(""))
        drawn = ladder(bound, np.bincount(table.codes(name), minlength=table[name].size))
    except ShoalError as error:
        return {"error": error, "picture_of": None}
    return {"error": None, "picture_of": drawn}


def _made(kind: str, held: Mapping[str, Any]) -> Spec:
    return validated(KINDS[kind], dict(held), where="The hierarchy", error=PolicyError)


def _column(visit: Visit, name: str) -> ColumnPolicy:
    said = visit.now.policy.columns.get(name)
    if said is None:
        raise PolicyError("There is no such column.", hint="Load the page again.")
    return said


def _held(visit: Visit, name: str, kind: str) -> dict[str, Any]:
    """Return what the policy says of a hierarchy, if it is of this kind."""
    said = _column(visit, name).hierarchy
    if said is None or said.kind != kind:
        return {}
    held: dict[str, Any] = said.model_dump(mode="json", exclude_unset=True, exclude={"kind"})
    return held


def _said(visit: Visit, name: str, kind: str) -> dict[str, Any]:
    """Return a hierarchy as it was filled in; parts that a form cannot show are kept, unless others exclude them."""
    held = _held(visit, name, kind)
    asked = fields(KINDS[kind], held)
    said = filled_in(asked, visit.form)
    sent = taken(visit, "sent") if kind == "explicit" else None
    if sent is not None:
        said["file"] = str(sent)
    hidden = {part: value for part, value in held.items() if part not in {one.name for one in asked}}
    try:
        _made(kind, {**hidden, **said})
    except PolicyError:
        return said
    return {**hidden, **said}


def _save(visit: Visit) -> Response:
    name, kind = visit.text("column"), visit.text("kind")
    said = {"kind": kind, **_said(visit, name, kind)}

    def changed(policy: dict[str, Any]) -> dict[str, Any]:
        columns = policy.get("columns", {})
        return {"columns": {**columns, name: {**columns[name], "hierarchy": said}}}

    visit.project.edit(changed)
    return visit.back("protect")


ROUTES = [
    route("/protect/ladders", _ladders),
    route("/protect/ladders", _weigh, ["POST"]),
    route("/protect/hierarchy", _edit),
    route("/protect/hierarchy/kind", _other_kind, ["POST"]),
    route("/protect/hierarchy/try", _try, ["POST"]),
    route("/protect/hierarchy", _save, ["POST"]),
]
