"""Perturbation of single columns: rounding, noise and other ways to release other values."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from shoal.errors import PolicyError
from shoal.perturbations.perturbation import PERTURBATIONS, Perturbation
from shoal.policy.columns import ColumnPolicy
from shoal.table.role import Role
from shoal.validation import validated
from shoal.web.forms import fields, filled_in
from shoal.web.page import Visit, route
from shoal.web.remedies import in_labels

NONE = "none"
_ROLES = (Role.SENSITIVE, Role.INSENSITIVE, Role.QUASI)


def _columns(visit: Visit) -> Response:
    """Show the columns that can be perturbed, with their perturbation."""
    columns = visit.now.policy.columns
    shown = [
        (name, column.role, _kind(column), "" if column.perturb is None else column.perturb.says)
        for role in _ROLES
        for name, column in columns.items()
        if column.role is role
    ]
    return visit.part("perturbations", columns=shown)


def _kind(column: ColumnPolicy) -> str:
    return NONE if column.perturb is None else column.perturb.kind


def _edit(visit: Visit) -> Response:
    """Show the perturbation of a column, with a form to change it."""
    column = _column(visit)
    return _editor(visit, _kind(column), _held(column, _kind(column)))


def _other_kind(visit: Visit) -> Response:
    """Show the form of another kind of perturbation."""
    kind = visit.text("kind")
    return _editor(visit, kind, _held(_column(visit), kind))


def _editor(visit: Visit, kind: str, values: Mapping[str, Any]) -> Response:
    chosen = None if kind == NONE else PERTURBATIONS[kind]
    kinds = {NONE: "The values are released as they are.", **{name: PERTURBATIONS[name].says for name in PERTURBATIONS}}
    return visit.part(
        "perturbation",
        column=visit.text("column"),
        kind=kind,
        kinds=kinds,
        guarantee="" if chosen is None else chosen.guarantee,
        fields=[] if chosen is None else fields(chosen, values),
        needed=set() if chosen is None else _required(chosen),
    )


def _required(kind: type[Perturbation]) -> set[str]:
    return {name for name, part in kind.model_fields.items() if part.is_required()}


def _save(visit: Visit) -> Response:
    """Set the perturbation of a column."""
    name, kind = visit.text("column"), visit.text("kind")
    perturb = None if kind == NONE else _entered(visit, kind)

    def changed(policy: dict[str, Any]) -> dict[str, Any]:
        columns = policy.get("columns", {})
        rest = {setting: value for setting, value in columns[name].items() if setting != "perturb"}
        return {"columns": {**columns, name: rest if perturb is None else {**rest, "perturb": perturb}}}

    _column(visit)
    visit.project.edit(changed)
    return visit.back("protect")


def _entered(visit: Visit, kind: str) -> dict[str, Any]:
    """Return the perturbation as entered; settings that the form cannot show, such as a matrix, are kept."""
    values = _held(_column(visit), kind)
    asked = fields(PERTURBATIONS[kind], values)
    hidden = {part: value for part, value in values.items() if part not in {field.name for field in asked}}
    entered = {"kind": kind, **hidden, **filled_in(asked, visit.form)}
    try:
        validated(PERTURBATIONS[kind], entered, where="Perturbation", error=PolicyError)
    except PolicyError as error:
        labels = {field.name: field.title for field in asked}
        problems = tuple(in_labels(problem, labels) for problem in error.facts.get("problems", ()))
        raise PolicyError("invalid", "{problems}", problems=problems) from None
    return entered


def _held(column: ColumnPolicy, kind: str) -> dict[str, Any]:
    """Return the settings of the perturbation in the policy; empty if it is of another kind."""
    if column.perturb is None or column.perturb.kind != kind:
        return {}
    held: dict[str, Any] = column.perturb.model_dump(mode="json", exclude_unset=True, exclude={"kind"})
    return held


def _column(visit: Visit) -> ColumnPolicy:
    column = visit.now.policy.columns.get(visit.text("column"))
    if column is None or column.role not in _ROLES:
        raise PolicyError("unknown-column", "There is no such column.", remedy="Reload the page.")
    return column


ROUTES = [
    route("/protect/perturbations", _columns),
    route("/protect/perturbation", _edit),
    route("/protect/perturbation/kind", _other_kind, ["POST"]),
    route("/protect/perturbation", _save, ["POST"]),
]
