"""Starter policy: a commented policy made from the findings, for the data owner to decide upon."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from shoal import toml
from shoal.hierarchy.automatic import propose
from shoal.hierarchy.broad_groups import merging_some, with_broad_groups
from shoal.hierarchy.date import Date
from shoal.hierarchy.interval import Interval
from shoal.hierarchy.suppression import Suppression
from shoal.identification.finding import Finding
from shoal.identification.proposal import Confidence
from shoal.identification.purpose import DEFAULT, PURPOSES, Purpose
from shoal.identification.shape import Form
from shoal.models.model import least_size
from shoal.presets.preset import PRESETS
from shoal.table.column import Column
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.techniques.technique import gentlest
from shoal.words import counted, listed

_SINGLE = {
    Role.SUBJECT: '# subject = "COLUMN"  # none was recognised; set it if individuals have several records',
    Role.HOUSEHOLD: '# household = "COLUMN"  # set it if a column identifies households',
}


def question(unrecognised: Sequence[str]) -> str | None:
    """Return the question about the columns that were not recognised; None if there are none.

    >>> question(["x1"])
    "Uncertain: 'x1'. If others may know it of an individual, make it a quasi-identifier; if its disclosure would \
harm, make it sensitive."
    """
    if not unrecognised:
        return None
    one = len(unrecognised) == 1
    it, its = ("it", "its") if one else ("them", "their")
    return (
        f"Uncertain: {listed(unrecognised)}. If others may know {it} of an individual, make {it} "
        f"{'a quasi-identifier' if one else 'quasi-identifiers'}; if {its} disclosure would harm, make {it} sensitive."
    )


def starter(
    table: Table,
    findings: Mapping[str, Finding],
    name: str,
    options: Mapping[str, Any] | None = None,
    purpose: Purpose = PURPOSES[DEFAULT],
) -> str:
    """Return a commented policy for a table that was read from ``name`` with the reading options ``options``.

    >>> import shoal
    >>> text = shoal.identify({"email": ["a@b", "c@d"], "age": [34, 71]}).starter("patients.csv")
    >>> shoal.Policy.parse(text).columns["email"].role
    <Role.DIRECT: 'direct'>
    """
    findings = {name: purpose.finding(finding) for name, finding in findings.items()}
    first = {finding.role: finding.name for finding in reversed([*findings.values()])}
    data = [
        f"{role} = {toml.value(first[role])}" if role in first else otherwise for role, otherwise in _SINGLE.items()
    ]
    weight = [f"weight = {toml.value(first[Role.WEIGHT])}"] if Role.WEIGHT in first else []
    harmful = [finding for finding in findings.values() if finding.role is Role.SENSITIVE]
    secret = max(harmful, key=lambda finding: finding.shape.values).name if harmful else None
    unknown = [name for name, finding in findings.items() if finding.confidence is Confidence.LOW]
    return _TEMPLATE.format(
        name=_comment(name),
        records=f"{table.records:,}",
        columns=len(findings),
        data="\n".join([*data, *weight]),
        read=f"read = {toml.value(options)}\n" if options else "",
        question=commented_question(unknown),
        lines=column_lines(table, findings, purpose),
        purpose=purpose,
        others=", ".join(other for other in PURPOSES if other != purpose.name),
        context=context_of(purpose),
        requirement=requirement(purpose),
        roles=ROLES,
        recoding=toml.value(gentlest().kind),
        sensitive="" if secret is None else _DIVERSITY.format(column=toml.value(secret), most=_most(table[secret])),
    )


def column_lines(table: Table, findings: Mapping[str, Finding], purpose: Purpose) -> str:
    """Return the lines of a policy on the columns of a table, except those whose role only one column can have."""
    columns = [purpose.finding(finding) for finding in findings.values() if not finding.role.single]
    width = max((len(toml.key(finding.name)) for finding in columns), default=0)
    return "\n".join(_line(table, finding, width, _least(purpose)) for finding in columns)


def commented_question(unrecognised: Sequence[str]) -> str:
    """Return the question about the columns that were not recognised as comment lines; empty if there are none."""
    asked = question(unrecognised)
    return "".join(f"# {line}\n" for line in wrap(_comment(asked), 110)) if asked else ""


def requirement(purpose: Purpose) -> str:
    """Return the section on the requirements of a purpose."""
    says = _sentence("; ".join(criterion.says for criterion in PRESETS[purpose.preset].criteria))
    return f'# {says}\n[[require]]\npreset = "{purpose.preset}"\n'


def context_of(purpose: Purpose) -> str:
    """Return the section on the context of a purpose; empty if it has none."""
    return _PUBLIC if purpose.public else ""


def _least(purpose: Purpose) -> int:
    """Return the class size that the requirements of a purpose ask for; 1 if they ask for none."""
    models = [criterion.requirement() for criterion in PRESETS[purpose.preset].criteria]
    return least_size(models)


def _line(table: Table, finding: Finding, width: int, least: int) -> str:
    column = table[finding.name]
    spec = propose(column, nominal=finding.concept is not None and finding.concept.nominal)
    if isinstance(spec, Interval):
        merging = merging_some(spec, column)
        spec = (
            Suppression() if merging is None else with_broad_groups(merging, column, table.persons(finding.name), least)
        )
    if isinstance(spec, Date):
        spec = spec.with_units(column)
    plain = finding.role in {Role.DIRECT, Role.INSENSITIVE} or (
        isinstance(spec, Suppression) and finding.role is not Role.QUASI
    )
    linked = f", linked = {toml.value(finding.follows)}" if finding.follows is not None else ""
    entry = f'{{ role = "{finding.role}"{linked}{"" if plain else f", hierarchy = {spec.toml()}"} }}'
    empty = ", some missing" if column.missing else ""
    why = _comment(" ".join((*finding.reasons, finding.confidence.remark)).rstrip())
    kind = "text with dates" if column.is_text and finding.shape.form is Form.DATE else column.kind
    about = f"{kind}, {counted(len(column.values), 'value')}{empty}. {why}"
    return f"{toml.key(finding.name):<{width}} = {entry}  # {about}"


def _most(column: Column) -> int:
    """Return the suggested number of distinct sensitive values: three, or as many as there are."""
    return min(3, max(1, len(column.values)))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _comment(text: str) -> str:
    """Replace unprintable characters such as line breaks, so that the text stays on its line."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


ROLES = """\
# The role of each column:
#   direct       identifies an individual on its own (name, e-mail, record number); not released
#   quasi        identifies individuals in combination (birth date, postcode, sex, occupation)
#   sensitive    must not be disclosed about an individual (diagnosis, outcome, income)
#   insensitive  assumed to be neither known to an adversary nor sensitive
# A hierarchy defines the levels of generalisation of a quasi-identifier. Sensitive columns are released unchanged;
# their hierarchy only serves to measure disclosure, for example of similar values:
#   interval   widths: interval width at each level      date       units: month, quarter, year, …
#              cuts = [[40, 60]]: one more level with the groups below 40, 40 to 59, and 60 or more
#              top = 90: one group for 90 or more
#   prefix     keep: leading characters at each level    frequency  keep: most frequent values kept, the others merged
#              length: characters of a complete code
# linked = "x": generalised together with column x.
# Columns that are not listed are not released.
"""

_TEMPLATE = """\
# Starter policy for {name} ({records} records, {columns} columns). Review every line.
# Purpose: {purpose.says} ({purpose.name}). Other purposes: {others}.
version = 1

[data]
# subject: the column that identifies the individual of a record. Without it, every record counts as an individual.
{data}
# missing: "own" treats missing values as a category; "never" treats each as different from all others (strictest).
missing = "own"
{read}
[columns]
{roles}{question}{lines}

# Privacy requirements for this purpose, from a published source (command: shoal presets).
{requirement}{sensitive}{context}
[search]
recoding = {recoding}   # "local": groups of records are generalised separately; "global": all records alike
suppression = {purpose.suppression}   # maximum share of suppressed individuals
quality = "loss"     # measure of information loss to minimise
"""

_PUBLIC = """
[context]
public = true  # an attempt at re-identification is assumed to be certain
"""

_DIVERSITY = """
# l-diversity: every class has at least l distinct sensitive values.
# [[require]]
# model = "l-diversity"
# column = {column}
# l = {most}
"""
