"""Starter policy for linked tables: one section for each table, common requirements."""

from collections.abc import Mapping
from typing import Any

from shoal import toml
from shoal.identification.finding import Finding
from shoal.identification.proposal import Confidence
from shoal.identification.purpose import PURPOSES, Purpose
from shoal.identification.starter import ROLES, column_lines, commented_question, context_of, requirement
from shoal.identification.table_links import TableLinks
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.techniques.technique import gentlest
from shoal.words import counted


def dataset_starter(  # noqa: PLR0913, PLR0917 - the parts of a policy
    tables: Mapping[str, Table],
    findings: Mapping[str, Mapping[str, Finding]],
    links: TableLinks,
    name: str,
    options: Mapping[str, Any] | None,
    purpose: Purpose,
) -> str:
    """Return a commented policy for tables that were read from ``name`` with the reading options ``options``."""
    sections = [_section(table, tables[table], findings[table], links, purpose) for table in tables]
    unknown = [
        f"{table}.{column}"
        for table, columns in findings.items()
        for column, finding in columns.items()
        if finding.confidence is Confidence.LOW
    ]
    return _TEMPLATE.format(
        name="".join(sign if sign.isprintable() else "?" for sign in name),
        tables=counted(len(tables), "table"),
        purpose=purpose,
        others=", ".join(other for other in PURPOSES if other != purpose.name),
        data="".join(_single(findings, role) for role in (Role.HOUSEHOLD, Role.WEIGHT)),
        read=f"read = {toml.value(options)}\n" if options else "",
        roles=ROLES,
        question=commented_question(unknown),
        requirement=requirement(purpose),
        context=context_of(purpose),
        recoding=toml.value(gentlest().kind),
        sections="\n".join(sections),
    )


def _single(findings: Mapping[str, Mapping[str, Finding]], role: Role) -> str:
    """Return the line on a role that one column of the dataset can have; empty if no column has it."""
    named = [name for columns in findings.values() for name, finding in columns.items() if finding.role is role]
    return f"{role} = {toml.value(named[0])}\n" if named else ""


def _section(
    name: str,
    table: Table,
    findings: Mapping[str, Finding],
    links: TableLinks,
    purpose: Purpose,
) -> str:
    """Return the section of one table."""
    place = toml.key(name)
    own = [link for link in links.references if link.table == name]
    head = [f"# {counted(table.records, 'record')}", f"[tables.{place}]"]
    head += [f"subject = {toml.value(links.subjects[name])}"] if name in links.subjects else []
    head += [_EXEMPT] if links.lists_no_individuals(name) else []
    if own:
        targets = ", ".join(
            f"{toml.key(reference.column)} = {toml.value(f'{reference.other}.{reference.key}')}" for reference in own
        )
        head.append(f"refers = {{ {targets} }}")
    shown = {column: finding for column, finding in findings.items() if column not in links.keys(name)}
    return "\n".join([*head, f"[tables.{place}.columns]", column_lines(table, shown, purpose), ""])


_EXEMPT = "require = []  # no individuals: its quasi-identifiers count as known in the tables that refer to it"
_TEMPLATE = """\
# Starter policy for {name} ({tables}). Review every line.
# Purpose: {purpose.says} ({purpose.name}). Other purposes: {others}.
version = 1

[data]
# missing: "own" treats missing values as a category; "never" treats each as different from all others (strictest).
missing = "own"
{data}{read}
# Privacy requirements for this purpose, from a published source (command: shoal presets). They hold in every table:
# the released values of a record count as known for all records that refer to it.
{requirement}{context}
[search]
recoding = {recoding}   # "local": groups of records are generalised separately; "global": all records alike
suppression = {purpose.suppression}   # maximum share of suppressed individuals
quality = "loss"     # measure of information loss to minimise

# Tables. subject: the column that identifies the individual of a record. refers: references to other tables; they and
# their keys are released as pseudonyms, from a new key, unless a section [pseudonyms] names one.
{roles}{question}
{sections}"""
