"""Identify: roles of the columns."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.responses import Response

from shoal.errors import PolicyError
from shoal.identification.identification import CONTRIBUTION, Identification
from shoal.identification.purpose import PURPOSES
from shoal.reporting.document import Block, Facts, Listing, Section, Text, Tone
from shoal.sheet import Sheet
from shoal.table.role import Role
from shoal.verbs.identify import identify
from shoal.web.page import Visit, route
from shoal.web.pages import dataset
from shoal.web.project import Basis
from shoal.words import share

_SINGLE = tuple(str(role) for role in Role if role.single)
_COARSER = {"quasi", "sensitive"}  # roles for which a hierarchy is meaningful


def _show(visit: Visit) -> Response:
    now = visit.now
    if now.source is None:
        return visit.back("load")
    job = now.begin("identify", lambda now, hook: identify(now.raw(hook), progress=hook), _told, basis=Basis.FILE)
    parts: dict[str, Any] = {"roles": list(Role), "chosen": chosen(visit), "digest": _digest, "fits": _fits}
    parts["purposes"] = list(PURPOSES.values())
    return visit.show("identify", job=job, contribution=CONTRIBUTION, **parts)


def _told(identification: Identification) -> Iterator[Block]:
    """Present the other findings: identifying sets of columns, dependent columns and HIPAA Safe Harbor identifiers."""
    if identification.keys:
        rows = tuple((", ".join(key.columns), share(key.share)) for key in identification.keys)
        exact = identification.contribution is not None and identification.contribution.exact
        how = "" if exact else " One set was searched for in a sample, column by column; there may be others."
        lead = Text(f"Attributes that make at least 90% of the individuals unique.{how}", Tone.LEAD)
        sheet = Sheet("", ("attributes", "unique individuals"), rows)
        title = "Minimal identifying sets of columns" if exact else "Identifying set of columns"
        yield Section.of(title, "keys", [lead, sheet])
    if identification.links:
        lead = Text(
            "Of two dependent columns, one may disclose the suppressed values of the other. Generalise them together.",
            Tone.LEAD,
        )
        yield Section.of("Dependent columns", "links", [lead, Listing(tuple(map(str, identification.links)))])
    flagged = [item for item in identification.hipaa if item.columns]
    if flagged:
        listed = Facts(tuple((", ".join(item.columns), f"{item.letter}: {item.says}") for item in flagged))
        lead = Text(
            "Identifiers of HIPAA Safe Harbor, and the columns that contain them. Not a legal opinion.", Tone.LEAD
        )
        yield Section.of("HIPAA Safe Harbor identifiers", "hipaa", [lead, listed])


def chosen(visit: Visit) -> dict[str, str]:
    """Return the role of each column in the policy."""
    policy = visit.now.policy
    roles = {name: str(column.role) for name, column in policy.columns.items()}
    named = {getattr(policy.data, role): role for role in _SINGLE if getattr(policy.data, role)}
    return {**roles, **named}


def _fits(identification: Identification, chosen: Mapping[str, str]) -> bool:
    """Return whether the chosen roles refer to the columns of this table; otherwise all roles are proposed again."""
    return bool(chosen) and set(chosen) <= set(identification.columns)


def _digest(identification: Identification) -> str:
    """Return a hash of the column names, to refuse forms about other columns."""
    return hashlib.sha256("\0".join(identification.columns).encode()).hexdigest()[:16]


def _decide(visit: Visit) -> Response:
    """Assign the chosen role to each column.

    The form refers to columns by position, because their names may contain any character.
    """
    identification: Identification | None = visit.now.result("identify", Basis.FILE)
    if identification is None or visit.text("columns") != _digest(identification):
        raise PolicyError(
            "columns-changed", "The columns have changed, or were not identified yet.", remedy="Reload the page."
        )
    roles = {name: visit.text(f"role:{place}") for place, name in enumerate(identification.columns)}
    single = {role: [name for name, chosen_role in roles.items() if chosen_role == role] for role in _SINGLE}
    twice = [role for role, names in single.items() if len(names) > 1]
    if twice:
        raise PolicyError(
            "several-with-role", "Two columns have the role {role}.", remedy="Give it to one of them.", role=twice[0]
        )
    _check(visit, identification, roles)
    purpose = visit.text("purpose")
    visit.project.edit(lambda policy: _decided(policy, identification, roles, single, purpose))
    return visit.back("assess")


def _check(visit: Visit, identification: Identification, roles: Mapping[str, str]) -> None:
    """Refuse roles without a quasi-identifier, and the release of direct identifiers.

    A column that was recognised as a direct identifier may be released if the form declares that it identifies no
    individual.
    """
    if "quasi" not in roles.values():
        raise PolicyError(
            "no-quasi-identifier",
            "No column is a quasi-identifier, so there is nothing to protect.",
            remedy="Select the columns that an adversary may know.",
        )
    for place, (name, role) in enumerate(roles.items()):
        if _names(identification, name, role) and f"nobody:{place}" not in visit.form:
            raise PolicyError(
                "may-identify",
                "Column '{column}' may identify individuals.",
                remedy="Keep the role direct, or confirm below it that all values were reviewed.",
                column=name,
            )


def _names(identification: Identification, name: str, role: str) -> bool:
    """Return whether a column recognised as a direct identifier would be released unchanged."""
    return identification.columns[name].role is Role.DIRECT and role in {"sensitive", "insensitive"}


def _decided(
    policy: Mapping[str, Any],
    identification: Identification,
    chosen: Mapping[str, str],
    single: Mapping[str, list[str]],
    purpose: str,
) -> dict[str, Any]:
    """Return the parts of a policy that change when the columns get these roles, for the purpose if one is chosen."""
    data = {name: value for name, value in policy.get("data", {}).items() if name not in _SINGLE}
    data |= {role: names[0] for role, names in single.items() if names}
    roles = {name: role for name, role in chosen.items() if role and role not in _SINGLE}
    known = {**identification.policy().document().get("columns", {}), **policy.get("columns", {})}
    columns = {name: _kept(name, roles, known.get(name, {})) for name in roles}
    for name, column in columns.items():  # the box was ticked: see _check
        if _names(identification, name, column["role"]):
            column["names_nobody"] = True
    quasi = {name for name, role in roles.items() if role == "quasi"}
    changed = {"columns": columns, "data": data, "search": _about(policy.get("search", {}), quasi)}
    if not purpose or policy.get("require"):
        return changed
    usual = identification.policy(purpose=purpose).document()
    asked: dict[str, Any] = {part: usual[part] for part in ("require", "context") if part in usual}
    return {**changed, **asked, "search": {**usual["search"], **changed["search"]}}


def _kept(name: str, roles: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a column: its new role and the earlier or proposed settings that remain valid."""
    role, gone = roles[name], {"role"}
    if not (role == roles.get(before.get("linked", "")) == "quasi"):
        gone |= {"linked"}
    if role not in _COARSER and role != before.get("role"):
        gone |= {"hierarchy", "show"}
    if role == "direct":
        gone |= {"names_nobody"}
    return {"role": role, **{part: value for part, value in before.items() if part not in gone}}


def _about(search: Mapping[str, Any], quasi: set[str]) -> dict[str, Any]:
    """Return the search settings without those of columns that are no longer quasi-identifiers."""
    of_columns = {"weights", "levels"}
    kept = {name: value for name, value in search.items() if name not in of_columns}
    some = {
        name: {column: value for column, value in search.get(name, {}).items() if column in quasi}
        for name in of_columns
    }
    return {**kept, **{name: value for name, value in some.items() if value}}


ROUTES = [
    route("/identify", _show, several=dataset.show_identify),
    route("/identify", _decide, ["POST"], several=dataset.decide),
]
