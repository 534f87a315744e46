"""The starter: a commented policy made of what was found, for its owner to decide upon."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal import toml
from shoal.hierarchy.automatic import propose
from shoal.hierarchy.suppression import Suppression
from shoal.table.role import Role

if TYPE_CHECKING:
    from shoal.identification.found import Finding, Found

_SINGLE = {
    Role.SUBJECT: '# subject = "patient_id"  # no column looks like it',
    Role.HOUSEHOLD: '# household = "household_id"',
}


def starter(found: "Found", name: str, options: Mapping[str, Any] | None = None) -> str:
    """Return a commented policy for a table that was read from ``name`` with these options.

    >>> import shoal
    >>> from shoal.identification.found import identify
    >>> text = starter(identify({"email": ["a@b", "c@d"], "age": [34, 71]}), "patients.csv")
    >>> shoal.Policy.parse(text).columns["email"].role
    <Role.DIRECT: 'direct'>
    """
    columns = [one for one in found.columns.values() if not one.role.single]
    width = max((len(toml.key(one.name)) for one in columns), default=0)
    data = [_single(found, role, said) for role, said in _SINGLE.items()]
    weight = next(iter(found.of_role(Role.WEIGHT)), None)
    return _TEMPLATE.format(
        name=_comment(name),
        records=f"{found.table.records:,}",
        columns=len(found.columns),
        data="\n".join([*data, *([] if weight is None else [f"weight = {toml.value(weight)}"])]),
        read=f"read = {toml.value(options)}\n" if options else "",
        lines="\n".join(_line(found, one, width) for one in columns),
        sensitive="".join(_DIVERSITY.format(column=toml.value(column)) for column in found.of_role(Role.SENSITIVE)[:1]),
    )


def _single(found: "Found", role: Role, otherwise: str) -> str:
    """Say which column has a role that one column has, or that none does."""
    held = next(iter(found.of_role(role)), None)
    return otherwise if held is None else f"{role} = {toml.value(held)}"


def _line(found: "Found", one: "Finding", width: int) -> str:
    column = found.table[one.name]
    spec = propose(column)
    plain = one.role in {Role.DIRECT, Role.INSENSITIVE} or isinstance(spec, Suppression)
    linked = f", linked = {toml.value(one.follows)}" if one.follows is not None else ""
    said = f'{{ role = "{one.role}"{linked}{"" if plain else f", hierarchy = {spec.toml()}"} }}'
    empty = ", some missing" if column.missing else ""
    why = _comment("; ".join(one.reasons))
    return f"{toml.key(one.name):<{width}} = {said}  # {column.kind}, {len(column.values):,} values{empty}; {why}"


def _comment(text: str) -> str:
    """Return a text that stays on its line."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


_TEMPLATE = """\
# A starter for {name} ({records} records, {columns} columns). It is a proposal: go through it line by line.
version = 1

[data]
# Which column says whose row it is? With it, shoal counts persons; without, every record is a person.
{data}
# When does a missing value match another? "own": missing equals missing. "never": it matches nothing (strictest).
missing = "own"
{read}
[columns]
# The role of each column:
#   direct       names a person on its own (name, e-mail, record number); never released
#   quasi        names a person together with others (birth date, postcode, sex, job)
#   sensitive    must not be learned about a person (diagnosis, laboratory value)
#   insensitive  neither known to others nor harmful
# The hierarchy of a quasi-identifier says how it may be coarsened, step by step, until it is suppressed.
# A column that is not listed here is never released; a weight, which is named above, is.
{lines}

# What the release must fulfil. k-anonymity: everybody shares their quasi-identifiers with at least k - 1 others.
[[require]]
model = "k-anonymity"
k = 11
{sensitive}
[search]
suppression = 0.02  # the share of persons that may be left out
quality = "loss"    # what is to be kept best
"""

_DIVERSITY = """
# And of what is sensitive? l-diversity: in every class there are at least l different values.
# [[require]]
# model = "l-diversity"
# column = {column}
# l = 3
"""
