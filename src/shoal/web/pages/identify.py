"""Identify: what each column is to somebody who looks for a person."""

from collections.abc import Iterator, Mapping
from typing import Any

from starlette.responses import Response

from shoal.errors import PolicyError
from shoal.identification.found import Found, identify
from shoal.reporting.document import Block, Facts, Listing, Section, Text, Tone
from shoal.sheet import Sheet
from shoal.table.role import Role
from shoal.web.page import Visit, route
from shoal.web.project import Basis

_SINGLE = tuple(str(role) for role in Role if role.single)
_FOLLOWS = {"quasi", "sensitive"}  # what else is said of a column is kept if it has one of these roles


def _show(visit: Visit) -> Response:
    project = visit.project
    if project.source is None:
        return visit.back("load")
    job = project.begin("identify", lambda now, hook: identify(now.raw(hook), progress=hook), _told, basis=Basis.FILE)
    return visit.show("identify", job=job, roles=list(Role), chosen=chosen(visit))


def _told(found: Found) -> Iterator[Block]:
    """Tell what else was found: keys, links and HIPAA's list."""
    if found.keys:
        rows = tuple((", ".join(key.columns), f"{key.share:.1%}") for key in found.keys)
        lead = Text(
            "Whoever knows these about somebody in the table, and no more, nearly always finds them.", Tone.LEAD
        )
        sheet = Sheet("", ("known together", "of the people are unique"), rows)
        yield Section.of("The fewest facts that find people", "keys", [lead, sheet])
    if found.links:
        lead = Text("What one of them hides, the other may tell: let them be coarser together.", Tone.LEAD)
        yield Section.of("Columns that belong together", "links", [lead, Listing(tuple(map(str, found.links)))])
    held = [item for item in found.hipaa if item.columns]
    if held:
        listed = Facts(tuple((", ".join(item.columns), f"{item.letter}: {item.says}") for item in held))
        lead = Text("What HIPAA's Safe Harbor lists, and where it was found. No legal opinion.", Tone.LEAD)
        yield Section.of("HIPAA's eighteen identifiers", "hipaa", [lead, listed])


def chosen(visit: Visit) -> dict[str, str]:
    """Return the role that the policy gives each column."""
    policy = visit.project.policy
    held = {name: str(said.role) for name, said in policy.columns.items()}
    named = {getattr(policy.data, role): role for role in _SINGLE if getattr(policy.data, role)}
    return {**held, **named}


def _decide(visit: Visit) -> Response:
    """Give every column the role that was chosen."""
    found: Found | None = visit.project.result("identify", Basis.FILE)
    if found is None:
        raise PolicyError("The columns were not looked at yet.", hint="Load the page again.")
    said = {name: str(next(iter(visit.form.get(f"role:{name}", [""])), "")) for name in found.columns}
    single = {role: [name for name, held in said.items() if held == role] for role in _SINGLE}
    twice = [role for role, names in single.items() if len(names) > 1]
    if twice:
        raise PolicyError(f"Two columns have the role {twice[0]}.", hint="Give it to one of them.")
    policy = visit.project.policy.document()
    data = {name: held for name, held in policy.get("data", {}).items() if name not in _SINGLE}
    data |= {role: names[0] for role, names in single.items() if names}
    roles = {name: role for name, role in said.items() if role and role not in _SINGLE}
    known = {**found.policy().document().get("columns", {}), **policy.get("columns", {})}
    columns = {name: _kept(name, roles, known.get(name, {})) for name in roles}
    quasi = {name for name, role in roles.items() if role == "quasi"}
    visit.project.change({"columns": columns, "data": data, "search": _about(policy.get("search", {}), quasi)})
    return visit.back("assess")


def _kept(name: str, roles: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of a column: its role, and, if that is not another one, what was said or proposed before."""
    if roles[name] not in _FOLLOWS:
        return {"role": roles[name]}
    gone = {"role"} if roles.get(before.get("linked", "")) == "quasi" == roles[name] else {"role", "linked"}
    return {"role": roles[name], **{part: held for part, held in before.items() if part not in gone}}


def _about(search: Mapping[str, Any], quasi: set[str]) -> dict[str, Any]:
    """Return the settings of the search, without those of columns that are no quasi-identifiers any more."""
    of_columns = {"weights", "levels"}
    kept = {name: held for name, held in search.items() if name not in of_columns}
    some = {
        name: {column: said for column, said in search.get(name, {}).items() if column in quasi} for name in of_columns
    }
    return {**kept, **{name: held for name, held in some.items() if held}}


ROUTES = [route("/identify", _show), route("/identify", _decide, ["POST"])]
