"""References between tables, and the order in which referenced tables are processed."""

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from shoal.errors import similar
from shoal.policy.tables import TablePolicy
from shoal.table.role import Role


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference: ``column`` of ``table`` identifies records of the table ``other`` by its column ``key``."""

    table: str
    column: str
    other: str
    key: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column} → {self.other}.{self.key}"


def references(tables: Mapping[str, TablePolicy]) -> tuple[Reference, ...]:
    """Return all references of some tables.

    >>> [str(one) for one in references({"stays": TablePolicy(refers={"patient": "patients.id"})})]
    ['stays.patient → patients.id']
    """
    references = []
    for name, table_policy in tables.items():
        for column, where in table_policy.refers.items():
            other, _, key = where.rpartition(".")
            references.append(Reference(name, column, other, key))
    return tuple(references)


def in_order(tables: Mapping[str, TablePolicy]) -> tuple[str, ...]:
    """Return the names of tables in order of processing: referenced tables first."""
    sorter: TopologicalSorter[str] = TopologicalSorter({name: [] for name in tables})
    for reference in references(tables):
        sorter.add(reference.table, reference.other)
    return tuple(sorter.static_order())


def domain(tables: Mapping[str, TablePolicy], table: str, column: str) -> str:
    """Return the column from which the values of a column originate; columns with the same origin share pseudonyms."""
    where = tables[table].refers.get(column)
    return f"{table}.{column}" if where is None else domain(tables, *where.rsplit(".", maxsplit=1))


def check_references(tables: Mapping[str, TablePolicy]) -> None:
    """Refuse references to unknown tables, and circular references."""
    for reference in references(tables):
        if reference.other not in tables:
            close = similar(reference.other, tables)
            raise ValueError(
                f"table '{reference.table}' refers to '{reference.other}', which is not a table of the policy. {close}"
            )
        _check_roles(reference, tables)
    try:
        in_order(tables)
    except CycleError as error:
        raise ValueError(f"tables refer to each other in a circle: {' → '.join(reversed(error.args[1]))}") from None


def _check_roles(reference: Reference, tables: Mapping[str, TablePolicy]) -> None:
    """Refuse a reference or a key that is to be generalised or protected: both are released as pseudonyms."""
    for table, column in ((reference.table, reference.column), (reference.other, reference.key)):
        settings = tables[table].columns.get(column)
        if settings is not None and settings.role in {Role.QUASI, Role.SENSITIVE}:
            raise ValueError(
                f"'{table}.{column}' cannot be {settings.role}, because it links tables ({reference}) and is released "
                f"as a pseudonym. Remove '{column}' from [tables.{table}.columns]"
            )
