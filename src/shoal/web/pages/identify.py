"""Identify: what each column is to somebody who looks for a person."""

from typing import Any

from starlette.responses import Response

from shoal.errors import PolicyError
from shoal.identification.found import Found, identify
from shoal.progress import Hook
from shoal.table.role import Role
from shoal.web.jobs import State
from shoal.web.page import Visit, route


def _show(visit: Visit) -> Response:
    if visit.project.source is None:
        return visit.back("load")
    job = visit.project.begin("identify", lambda hook: _found(visit, hook), policy=False)
    return visit.show("identify", job=job, roles=list(Role), chosen=chosen(visit))


def _found(visit: Visit, hook: Hook) -> Found:
    return identify(visit.project.table(hook), progress=hook)


def chosen(visit: Visit) -> dict[str, str]:
    """Return the role that the policy gives each column."""
    policy = visit.project.policy
    held = {name: str(said.role) for name, said in policy.columns.items()}
    for role in Role:
        if role.single and getattr(policy.data, role, None):
            held[getattr(policy.data, role)] = str(role)
    return held


def _decide(visit: Visit) -> Response:
    """Give every column the role that was chosen; what is proposed for hierarchies is kept where nothing else is."""
    job = visit.project.found("identify", policy=False)
    if job is None or job.state is not State.DONE:
        raise PolicyError("The columns were not looked at yet.", hint="Load the page again.")
    found: Found = job.result
    said = {name: visit.form.get(f"role:{name}", [""])[0] for name in found.columns}
    proposed, policy = found.policy().document().get("columns", {}), visit.project.policy.document()
    columns: dict[str, Any] = {}
    data = {
        name: held for name, held in policy.get("data", {}).items() if name not in {"subject", "household", "weight"}
    }
    for name, role in said.items():
        if role in {str(one) for one in Role if one.single}:
            if role in data:
                raise PolicyError(f"Two columns have the role {role}.", hint="Give it to one of them.")
            data[role] = name
        elif role:
            before = policy.get("columns", {}).get(name) or proposed.get(name, {})
            kept = {part: held for part, held in before.items() if part not in {"role", "linked"}}
            columns[name] = {"role": role, **(kept if role in {"quasi", "sensitive"} else {})}
    visit.project.change({"columns": columns, "data": data})
    return visit.back("assess")


ROUTES = [route("/identify", _show), route("/identify", _decide, ["POST"])]
