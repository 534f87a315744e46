"""Passed columns: columns of a table whose values the records that refer to it inherit."""

from dataclasses import dataclass, replace

from shoal.dataset.links import Records
from shoal.models.model import Model
from shoal.policy.columns import ColumnPolicy
from shoal.table.raw import Encoded


@dataclass(frozen=True, slots=True, eq=False)
class PassedColumn:
    """A column with one code per record, its policy, and the requirements that concern it."""

    encoded: Encoded
    policy: ColumnPolicy
    models: tuple[Model, ...]

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.encoded.column.name

    def taken(self, records: Records, name: str) -> "PassedColumn":
        """Return the column for records that refer to the given records; the requirements then name the new column.

        The columns to which it is linked belong to the other table, so the link is omitted.
        """
        models = tuple(model.model_copy(update={"column": name}) for model in self.models)
        policy = self.policy.model_copy(update={"linked": None})
        return PassedColumn(at_records(self.encoded, records, name), policy, models)


def at_records(encoded: Encoded, records: Records, name: str) -> Encoded:
    """Return a column of other records, given by their positions, under a new name."""
    return Encoded(replace(encoded.column, name=name), encoded.codes[records])
