"""Table links: the references between tables, and the individuals to whom they lead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.identification.subject import names_persons, subject_of
from shoal.policy.references import Reference
from shoal.table.table import Table


@dataclass(frozen=True, slots=True)
class TableLinks:
    """References between tables, and the column that identifies individuals, for each table that has one of its own."""

    references: tuple[Reference, ...]
    subjects: Mapping[str, str]

    @classmethod
    def of(cls, tables: Mapping[str, Table], references: Sequence[Reference]) -> "TableLinks":
        """Propose the subjects of tables with the given references."""
        links = cls(tuple(references), _subjects(tables, references))
        return cls(
            links.references, {name: column for name, column in links.subjects.items() if not links.leads_on(name)}
        )

    def leads_on(self, table: str) -> bool:
        """Return whether a table refers, directly or indirectly, to another table that identifies individuals."""
        others = [reference.other for reference in self.references if reference.table == table]
        return any(other in self.subjects or self.leads_on(other) for other in others)

    def subject(self, table: str) -> str | None:
        """Return the column of a table that identifies individuals: its own subject, or its reference to one."""
        direct = (
            link.column for link in self.references if link.table == table and self.subjects.get(link.other) == link.key
        )
        return self.subjects.get(table) or next(direct, None)

    def keys(self, table: str) -> frozenset[str]:
        """Return the columns of a table that refer to other tables, or to which others refer."""
        own = {link.column for link in self.references if link.table == table}
        return frozenset(own | {link.key for link in self.references if link.other == table})

    def lists_no_individuals(self, table: str) -> bool:
        """Return whether others refer to a table whose records belong to no individual, such as a list of wards."""
        referred = any(link.other == table for link in self.references)
        return bool(self.subjects) and referred and table not in self.subjects and not self.leads_on(table)


def _subjects(tables: Mapping[str, Table], references: Sequence[Reference]) -> dict[str, str]:
    """Return the column that identifies individuals, for each table that has one."""
    own = {name: subject for name, table in tables.items() if (subject := subject_of(table, ())) is not None}
    links = {(reference.table, reference.column): reference for reference in references}
    subjects: dict[str, str] = {}
    for name, column in own.items():
        table, subject = name, column
        while (table, subject) in links:
            table, subject = links[table, subject].other, links[table, subject].key
        subjects[table] = subject
    for reference in references:  # a table of individuals whose own key has no telling name
        if reference.other not in subjects and (names_persons(reference.column) or names_persons(reference.other)):
            subjects[reference.other] = reference.key
    return subjects
