"""The starter: a commented policy for a table, for its owner to decide upon."""

import re
from collections.abc import Mapping
from typing import Any

from shoal import toml
from shoal.hierarchy.automatic import propose
from shoal.hierarchy.suppression import Suppression
from shoal.table.column import Column
from shoal.table.role import Role
from shoal.table.table import Table

_NAMES_A_PERSON = re.compile(
    r"(^|_)(first|last|sur|full|family|vor|nach|familien|geburts)?_?name$|e-?mail|phone|telefon|fax|address|adresse"
    r"|street|strasse|straße|\bssn\b|^mrn$|\bnhs\b|passport|iban|fallnummer|versichertennummer",
    re.IGNORECASE,
)
_HOUSEHOLD = re.compile(r"^(household|family|haushalt)_?(id|nr|no|number)?$", re.IGNORECASE)
_SUBJECT = re.compile(r"^(patient|subject|person|case|usubj|pat)_?(id|nr|no|number)?$", re.IGNORECASE)


def _named_like(table: Table, pattern: re.Pattern[str]) -> str | None:
    """Return the first column without gaps whose name fits."""
    return next((name for name in table.names if pattern.match(name) and not table[name].missing), None)


def role_of(column: Column, records: int) -> Role:
    """Propose a role, on the safe side: what names nobody on its own is a quasi-identifier until its owner decides."""
    unique_text = column.kind == "text" and records >= 20 and len(column.values) >= 0.9 * records
    return Role.DIRECT if unique_text or _NAMES_A_PERSON.search(column.name) else Role.QUASI


def starter(table: Table, name: str, options: Mapping[str, Any] | None = None) -> str:
    """Return a commented policy for a table that was read from ``name`` with these options.

    >>> import shoal
    >>> text = starter(shoal.read({"email": ["a@b", "c@d"], "age": [34, 71]}), "patients.csv")
    >>> shoal.Policy.parse(text).columns["email"].role
    <Role.DIRECT: 'direct'>
    """
    subject, household = _named_like(table, _SUBJECT), _named_like(table, _HOUSEHOLD)
    columns = [column for column in table.columns if column.name not in {subject, household}]
    width = max((len(toml.key(column.name)) for column in columns), default=0)
    return _TEMPLATE.format(
        name=name,
        records=f"{table.records:,}",
        columns=len(table.columns),
        subject=f"subject = {toml.value(subject)}"
        if subject
        else '# subject = "patient_id"  # no column looks like it',
        household=f"household = {toml.value(household)}" if household else '# household = "household_id"',
        read=f"read = {toml.value(options)}\n" if options else "",
        lines="\n".join(_line(column, table.records, width) for column in columns),
    )


def _line(column: Column, records: int, width: int) -> str:
    role = role_of(column, records)
    spec = propose(column)
    hierarchy = "" if role is Role.DIRECT or isinstance(spec, Suppression) else f", hierarchy = {spec.toml()}"
    empty = ", some missing" if column.missing else ""
    said = f'{{ role = "{role}"{hierarchy} }}'
    return f"{toml.key(column.name):<{width}} = {said}  # {column.kind}, {len(column.values):,} values{empty}"


_TEMPLATE = """\
# A starter for {name} ({records} records, {columns} columns). It is a proposal: go through it line by line.
version = 1

[data]
# Which column says whose row it is? With it, shoal counts persons; without, every record is a person.
{subject}
{household}
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
# A column that is not listed here is never released.
{lines}

# What the release must fulfil. k-anonymity: everybody shares their quasi-identifiers with at least k - 1 others.
[[require]]
model = "k-anonymity"
k = 11

[search]
suppression = 0.02  # the share of persons that may be left out
quality = "loss"    # what is to be kept best
"""
