"""Identification of linked tables: a role for each column of each table, and the references between the tables."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from shoal.identification.dataset_starter import dataset_starter
from shoal.identification.finding import Finding
from shoal.identification.identification import Identification, identified
from shoal.identification.proposal import Confidence
from shoal.identification.purpose import DEFAULT, purpose_of
from shoal.identification.references import FoundReference, found_references
from shoal.identification.starter import question
from shoal.identification.table_links import TableLinks
from shoal.policy.policy import Policy
from shoal.progress import Hook, Progress, silent
from shoal.sheet import Presentable, Sheet
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.words import counted


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DatasetIdentification(Presentable):
    """Proposed roles of the columns of linked tables, and the references between the tables.

    ``tables``: the identification of each table. ``references``: the references, with their invalid records.
    ``links``: the same references, with the columns that identify individuals.
    """

    __module__ = "shoal"

    tables: Mapping[str, Identification]
    references: tuple[FoundReference, ...]
    links: TableLinks

    @property
    def subjects(self) -> Mapping[str, str]:
        """The column that identifies individuals, for each table that has one of its own."""
        return self.links.subjects

    def keys(self, table: str) -> frozenset[str]:
        """Return the columns of a table that refer to other tables, to which others refer, or that name individuals."""
        return self.links.keys(table) | ({self.subjects[table]} if table in self.subjects else set())

    @property
    def unrecognised(self) -> tuple[str, ...]:
        """The columns that were not recognised, with the names of their tables."""
        return tuple(f"{table}.{name}" for table, found in self.tables.items() for name in found.unrecognised)

    @property
    def question(self) -> str | None:
        """The question that the owner has to answer about the unrecognised columns; None if there are none."""
        return question(self.unrecognised)

    def starter(
        self, name: str = "the dataset", options: Mapping[str, Any] | None = None, *, purpose: str = DEFAULT
    ) -> str:
        """Return a commented starter policy for all tables; the arguments are those of a single table."""
        return dataset_starter(
            {name: found.table for name, found in self.tables.items()},
            {name: found.columns for name, found in self.tables.items()},
            self.links,
            name,
            options,
            purpose_of(purpose),
        )

    def policy(self, *, purpose: str = DEFAULT) -> Policy:
        """Return the starter policy for a purpose: "public", "controlled" or "internal"."""
        return Policy.parse(self.starter(purpose=purpose))

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain data, as printed by ``shoal identify --json``."""
        references = [
            {"table": found.reference.table, "column": found.reference.column, "other": found.reference.other}
            | {"key": found.reference.key, "orphans": found.orphans}
            for found in self.references
        ]
        tables = {name: found.to_dict() for name, found in self.tables.items()}
        return {"tables": tables, "references": references, "subjects": dict(self.subjects)}

    def sheet(self) -> Sheet:
        """Return the proposed role of each column of each table."""
        rows = tuple(
            (name, column.name, column.role.value, column.confidence.value, " ".join(column.reasons))
            for name, found in self.tables.items()
            for column in found.columns.values()
        )
        links = tuple(f"Reference: {reference}." for reference in self.references)
        asked = (self.question,) if self.question else ()
        title = f"{counted(len(self.tables), 'table')}, {counted(len(rows), 'column')}"
        return Sheet(title, ("table", "column", "role", "confidence", "reasons and remarks"), rows, (*links, *asked), 5)


def identified_tables(tables: Mapping[str, Table], progress: Hook = silent, **options: Any) -> DatasetIdentification:
    """Propose the references between tables, and a role for each of their columns.

    >>> import shoal
    >>> data = {"patients": {"id": [7, 8, 9]}, "stays": {"patient_id": [7, 7, 9], "ward": ["A", "B", "A"]}}
    >>> found = shoal.identify(shoal.Dataset.read(data), combinations=False)
    >>> found.subjects, found.tables["stays"].columns["patient_id"].role.value
    ({'patients': 'id'}, 'direct')
    """
    references = found_references(tables)
    links = TableLinks.of(tables, [found.reference for found in references])
    identifications = {}
    for done, (name, table) in enumerate(tables.items()):
        progress(Progress(f"looking at {name}", done, len(tables)))
        found = identified(table, subject=links.subject(name), progress=progress, **options)
        identifications[name] = _linked(found, name, links)
    return DatasetIdentification(identifications, references, links)


def _linked(found: Identification, table: str, links: TableLinks) -> Identification:
    """Return an identification in which references and keys are identifiers, which a release shows as pseudonyms."""
    columns = dict(found.columns)
    for link in links.references:
        if link.table == table:
            columns[link.column] = _identifier(columns[link.column], f"Refers to {link.other}.{link.key}.")
        elif link.other == table and link.key != links.subjects.get(table):
            columns[link.key] = _identifier(columns[link.key], "Other tables refer to it.")
    return replace(found, columns=columns)


def _identifier(finding: Finding, reason: str) -> Finding:
    reasons = (reason, "Released as a pseudonym.")
    return replace(finding, role=Role.DIRECT, reasons=reasons, confidence=Confidence.HIGH, follows=None)
