"""Results for each table of a dataset."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from shoal.errors import ModelError
from shoal.plain import plain
from shoal.sheet import Presentable, Sheet
from shoal.words import counted


class TableResult(Protocol):
    """The result of a verb for one table."""

    def sheet(self) -> Sheet:
        """Return a summary of the result."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""


Result_co = TypeVar("Result_co", bound=TableResult, covariant=True)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DatasetResult(Presentable, Generic[Result_co]):
    """Results of one verb for the tables of a dataset.

    ``tables``: the result for each table, by name. ``figures``: figures about the dataset as a whole. ``notes``: notes
    on the dataset as a whole, such as the tables without a result.
    """

    __module__ = "shoal"

    tables: Mapping[str, Result_co]
    figures: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Result_co:
        if name not in self.tables:
            raise ModelError(
                "no-result",
                "There is no result for '{table}'. Available: {tables:listed}.",
                table=name,
                tables=list(self.tables),
            )
        return self.tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def sheet(self) -> Sheet:
        """Return the figures about the dataset as a whole."""
        return Sheet(f"Dataset: {counted(len(self.tables), 'table')}", (), (), self.notes)

    def __repr__(self) -> str:
        parts = [f"{name}\n{result.sheet().text()}" for name, result in self.tables.items()]
        return "\n\n".join([self.sheet().text(), *parts])

    def _repr_html_(self) -> str:
        return "".join([self.sheet().html(), *(result.sheet().html() for result in self.tables.values())])

    def to_dict(self) -> dict[str, Any]:
        """Return the figures about the dataset, and the result for each table, as plain data."""
        tables = {name: result.to_dict() for name, result in self.tables.items()}
        return {**plain(dict(self.figures)), "tables": tables, "notes": list(self.notes)}
