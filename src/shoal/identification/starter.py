"""The starter: a commented policy made of what was found, for its owner to decide upon."""

from collections.abc import Mapping
from typing import Any

from shoal import toml
from shoal.hierarchy.automatic import propose
from shoal.hierarchy.suppression import Suppression
from shoal.identification.finding import Finding
from shoal.table.column import Column
from shoal.table.role import Role
from shoal.table.table import Table

_SINGLE = {
    Role.SUBJECT: '# subject = "patient_id"  # no column looks like it',
    Role.HOUSEHOLD: '# household = "household_id"',
}


def starter(table: Table, findings: Mapping[str, Finding], name: str, options: Mapping[str, Any] | None = None) -> str:
    """Return a commented policy for a table that was read from ``name`` with these options.

    >>> import shoal
    >>> text = shoal.identify({"email": ["a@b", "c@d"], "age": [34, 71]}).starter("patients.csv")
    >>> shoal.Policy.parse(text).columns["email"].role
    <Role.DIRECT: 'direct'>
    """
    columns = [finding for finding in findings.values() if not finding.role.single]
    width = max((len(toml.key(finding.name)) for finding in columns), default=0)
    first = {finding.role: finding.name for finding in reversed([*findings.values()])}
    data = [
        f"{role} = {toml.value(first[role])}" if role in first else otherwise for role, otherwise in _SINGLE.items()
    ]
    weight = [f"weight = {toml.value(first[Role.WEIGHT])}"] if Role.WEIGHT in first else []
    secret = first.get(Role.SENSITIVE)
    return _TEMPLATE.format(
        name=_comment(name),
        records=f"{table.records:,}",
        columns=len(findings),
        data="\n".join([*data, *weight]),
        read=f"read = {toml.value(options)}\n" if options else "",
        lines="\n".join(_line(table[finding.name], finding, width) for finding in columns),
        sensitive="" if secret is None else _DIVERSITY.format(column=toml.value(secret)),
    )


def _line(column: Column, finding: Finding, width: int) -> str:
    spec = propose(column)
    plain = finding.role in {Role.DIRECT, Role.INSENSITIVE} or isinstance(spec, Suppression)
    linked = f", linked = {toml.value(finding.follows)}" if finding.follows is not None else ""
    entry = f'{{ role = "{finding.role}"{linked}{"" if plain else f", hierarchy = {spec.toml()}"} }}'
    empty = ", some missing" if column.missing else ""
    why = _comment("; ".join(finding.reasons))
    about = f"{column.kind}, {len(column.values):,} values{empty}; {why}"
    return f"{toml.key(finding.name):<{width}} = {entry}  # {about}"


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
