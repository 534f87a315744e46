"""Generalisation of the columns: hierarchies with the number of values per level, weights and permitted levels."""

import re
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
from shoal.web.remedies import in_labels
from shoal.words import first_sentence


@dataclass(frozen=True, slots=True)
class LadderPreview:
    """Preview of a hierarchy.

    ``counts``: the number of values per level, without the top level, which suppresses the value.
    ``error``: the reason why the hierarchy cannot be applied.
    """

    kind: str
    counts: tuple[int, ...] = ()
    error: ShoalError | None = None


def _ladders(visit: Visit) -> Response:
    """Show the hierarchies of all quasi-identifiers, with weights and permitted levels."""
    job = _climbing(visit)
    policy = visit.now.policy
    search = policy.search
    return visit.part("ladders", job=job, linked=policy.leaders, weights=search.weights, levels=search.levels)


def _climbing(visit: Visit) -> Job:
    """Count the values per level, and wait briefly for the result."""
    job = visit.now.begin("ladders", _climbed, basis=Basis.REQUIRED)
    job.wait(PATIENCE)
    return job


def _climbed(now: Moment, hook: Hook) -> dict[str, LadderPreview]:
    table = now.table(hook)
    previews = {}
    for name, column in now.policy.columns.items():
        if column.role == "quasi":
            spec = now.policy.spec(name)
            try:
                bound = bind(spec, table, name, now.policy.beside(""))
                used = np.bincount(table.codes(name), minlength=table[name].size)
                levels = (np.bincount(bound.nodes(level), used) for level in range(bound.height))
                previews[name] = LadderPreview(
                    _spec(column).kind, tuple(int(np.count_nonzero(level)) for level in levels)
                )
            except ShoalError as error:
                previews[name] = LadderPreview(_spec(column).kind, error=error)
    return previews


def _spec(column_policy: ColumnPolicy) -> Spec:
    return column_policy.hierarchy or Automatic()


def _weigh(visit: Visit) -> Response:
    """Set the weights and the permitted levels of the columns."""
    chosen = weights_and_levels(visit)
    visit.project.edit(lambda policy: {"search": {**policy.get("search", {}), **chosen}})
    return visit.back("protect")


def weights_and_levels(visit: Visit) -> dict[str, dict[str, Any]]:
    """Return the weights and levels entered in the form. Columns absent from the form keep their settings."""
    ladders: Mapping[str, LadderPreview] = visit.now.result("ladders", Basis.REQUIRED) or {}
    before = visit.now.policy.search
    weights, levels = dict(before.weights), {name: list(levels_of) for name, levels_of in before.levels.items()}
    for name, preview in ladders.items():
        top = len(preview.counts)
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
        raise PolicyError("bad-weight", "The weight of '{column}' is not a number.", column=name) from None


def _level(visit: Visit, name: str, usual: int, top: int) -> int:
    if not visit.text(name).strip():
        return usual
    level = number(visit.text(name).strip(), 0, top)
    if level is None:
        raise PolicyError(
            "no-such-level",
            "Column '{column}' has no such level.",
            remedy="Its levels are 0 to {top}.",
            column=name.partition(":")[2],
            top=top,
        )
    return level


def _edit(visit: Visit) -> Response:
    """Show the current hierarchy of a column, with a form to change it."""
    name = visit.text("column")
    spec = _spec(_column(visit, name))
    return _editor(visit, name, spec.kind, _held(visit, name, spec.kind), spec)


def _other_kind(visit: Visit) -> Response:
    """Show the form of another hierarchy kind."""
    name, kind = visit.text("column"), visit.text("kind")
    return _editor(visit, name, kind, _held(visit, name, kind))


def _editor(visit: Visit, name: str, kind: str, values: Mapping[str, Any], spec: Spec | None = None) -> Response:
    asked, kinds = fields(KINDS[kind], values), {other: first_sentence(KINDS[other]) for other in KINDS}
    preview = _preview(visit, name, kind, values, spec)
    return visit.part("hierarchy", column=name, kind=kind, kinds=kinds, fields=asked, **preview)


def _try(visit: Visit) -> Response:
    """Preview a hierarchy while its form is being filled in."""
    name, kind = visit.text("column"), visit.text("kind")
    return visit.part("preview", **_preview(visit, name, kind, _said(visit, name, kind)))


def _preview(visit: Visit, name: str, kind: str, values: Mapping[str, Any], spec: Spec | None = None) -> dict[str, Any]:
    """Draw a hierarchy with the number of values per level, or return the error that prevents it."""
    if _climbing(visit).state is State.RUNNING:
        raise PolicyError("still-counting", "The values are still being counted.", remedy="Try again in a moment.")
    try:
        drawn_spec = spec or _made(kind, values)
        for file in files_of(drawn_spec.model_dump(mode="json")):
            visit.project.check_file(file)
        table = visit.now.table(silent)
        bound = bind(drawn_spec, table, name, visit.now.policy.beside(""))
        drawn = ladder(bound, np.bincount(table.codes(name), minlength=table[name].size))
    except ShoalError as error:
        return {"error": error, "picture_of": None}
    return {"error": None, "picture_of": drawn}


def _made(kind: str, values: Mapping[str, Any]) -> Spec:
    """Return a hierarchy; problems are named by the labels of the form for this kind."""
    try:
        return validated(KINDS[kind], dict(values), where="Hierarchy", error=PolicyError)
    except PolicyError as error:
        labels = {field.name: field.title for field in fields(KINDS[kind], values)}
        problems = tuple(_of_form(problem, labels) for problem in error.facts.get("problems", ()))
        raise PolicyError("invalid", "{problems}", problems=problems) from None


def _of_form(problem: str, labels: Mapping[str, str]) -> str:
    """Return a problem in the terms of a form.

    >>> _of_form("requires either widths or cuts", {"widths": "Interval widths"})
    'Fill in "Interval widths"'
    >>> _of_form("keep: is missing", {"keep": "Categories kept"})
    'Fill in "Categories kept"'
    """
    names = [f'"{label}"' for name, label in labels.items() if re.search(rf"\b{name}\b", problem)]
    if names and (problem.startswith("requires either") or problem.endswith(": is missing")):
        return f"Fill in {' or '.join(names)}"
    return in_labels(problem, labels)


def _column(visit: Visit, name: str) -> ColumnPolicy:
    column = visit.now.policy.columns.get(name)
    if column is None:
        raise PolicyError("unknown-column", "There is no such column.", remedy="Reload the page.")
    return column


def _held(visit: Visit, name: str, kind: str) -> dict[str, Any]:
    """Return the settings of the hierarchy in the policy; empty if it is of another kind."""
    hierarchy = _column(visit, name).hierarchy
    if hierarchy is None or hierarchy.kind != kind:
        return {}
    values: dict[str, Any] = hierarchy.model_dump(mode="json", exclude_unset=True, exclude={"kind"})
    return values


def _said(visit: Visit, name: str, kind: str) -> dict[str, Any]:
    """Return the settings of a hierarchy as entered in the form.

    Settings that the form cannot show are kept, unless the entered settings exclude them.
    """
    values = _held(visit, name, kind)
    asked = fields(KINDS[kind], values)
    entered = filled_in(asked, visit.form)
    sent = taken(visit, "sent") if kind == "explicit" else None
    if sent is not None:
        entered["file"] = str(sent)
    hidden = {part: value for part, value in values.items() if part not in {field.name for field in asked}}
    try:
        _made(kind, {**hidden, **entered})
    except PolicyError:
        return entered
    return {**hidden, **entered}


def _save(visit: Visit) -> Response:
    name, kind = visit.text("column"), visit.text("kind")
    entered = {"kind": kind, **_said(visit, name, kind)}

    def changed(policy: dict[str, Any]) -> dict[str, Any]:
        columns = policy.get("columns", {})
        return {"columns": {**columns, name: {**columns[name], "hierarchy": entered}}}

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
