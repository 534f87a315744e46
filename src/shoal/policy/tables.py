"""Policy sections on related tables."""

from typing import Any, Literal

from pydantic import Field, field_validator

from shoal.policy.columns import ColumnPolicy, role_or_table, short_form
from shoal.policy.requirements import AnyRequirement
from shoal.policy.search import Search
from shoal.table.options import Options
from shoal.validation import Checked


class TablePolicy(Checked):
    """The settings of one table of several; settings that are omitted here are those of the whole policy."""

    columns: dict[str, ColumnPolicy] = Field(default_factory=dict, json_schema_extra=role_or_table)
    refers: dict[str, str] = Field(
        default_factory=dict, description='references to other tables: patient = "patients.patient"'
    )
    orphans: Literal["refuse", "drop"] = Field(
        default="refuse", description="treatment of records without a valid reference"
    )
    subject: str | None = Field(
        default=None, description="column that identifies the individual of a record, if different from [data]"
    )
    require: list[AnyRequirement] | None = Field(default=None, description="privacy requirements of the table")
    search: Search | None = Field(default=None, description="search settings of the table")
    read: Options | None = Field(default=None, description="import settings that cannot be detected")

    @field_validator("columns", mode="before")
    @classmethod
    def _short(cls, columns: Any) -> Any:
        return short_form(columns)

    @field_validator("refers")
    @classmethod
    def _named(cls, refers: dict[str, str]) -> dict[str, str]:
        for where in refers.values():
            table, dot, column = where.rpartition(".")
            if not (table and dot and column):
                raise ValueError('a column refers to a table and its column: "patients.patient_id"')
        return refers
