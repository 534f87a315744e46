"""Policy sections on the table and its columns."""

from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from shoal.errors import did_you_mean
from shoal.hierarchy.spec import KINDS
from shoal.perturbations.perturbation import PERTURBATIONS
from shoal.table.missing import Missing
from shoal.table.options import Options
from shoal.table.role import Role
from shoal.validation import Checked

AnyHierarchy: Any = Annotated[reduce(or_, KINDS.values()), Field(discriminator="kind")]
AnyPerturbation: Any = Annotated[reduce(or_, PERTURBATIONS.values()), Field(discriminator="kind")]


class Data(Checked):
    """Properties of the table: subject, household and weight columns, rule for missing values, import settings."""

    subject: str | None = Field(default=None, description="column that identifies the individual of a record")
    household: str | None = Field(default=None, description="column that identifies the household of an individual")
    weight: str | None = Field(default=None, description="column of survey weights")
    missing: Missing = Field(default=Missing.OWN, description="rule for missing values")
    read: Options = Field(default=Options(), description="import settings that cannot be detected")


class ColumnPolicy(Checked):
    """The settings of one column."""

    role: Role = Field(description="direct, quasi, sensitive, insensitive or threshold")
    hierarchy: AnyHierarchy | None = Field(default=None, description="levels of generalisation")
    linked: str | None = Field(
        default=None, description="quasi-identifier that determines this one, which follows its levels"
    )
    show: Literal["label", "midpoint", "mean", "median", "mode"] = Field(
        default="label", description="released value of a class: a label, or one representative value"
    )
    perturb: AnyPerturbation | None = Field(
        default=None,
        description="perturbation of the column: round, code, noise, swap, shuffle or pram; random perturbations of a "
        "quasi-identifier need a requirement on attacks",
    )
    names_nobody: bool = Field(
        default=False, description="release the column although it may identify individuals: all values were reviewed"
    )

    @property
    def shows_sets(self) -> bool:
        """Whether it is a quasi-identifier whose perturbation is the first level of its hierarchy."""
        perturb = self.perturb
        return self.role is Role.QUASI and perturb is not None and perturb.is_true and not perturb.is_random

    @field_validator("role", mode="before")
    @classmethod
    def _plain(cls, role: Any) -> Any:
        plain = [known for known in Role if not known.single]
        if role in set(Role) - set(plain):
            raise ValueError(f'the {role} is named under [data]: {role} = "…"')
        if role not in plain:
            close = did_you_mean(str(role), plain)
            raise ValueError(f"must be one of {', '.join(plain)}" + (f". {close}" if close else ""))
        return role


def short_form(columns: Any) -> Any:
    """Expand the short form ``sex = "quasi"`` to ``sex = { role = "quasi" }``."""
    if not isinstance(columns, dict):
        return columns
    return {name: {"role": column} if isinstance(column, str) else column for name, column in columns.items()}


def role_or_table(schema: dict[str, Any]) -> None:
    """Add the short form to the JSON Schema."""
    roles = {"enum": [role.value for role in Role if not role.single], "description": "role"}
    schema["additionalProperties"] = {"anyOf": [roles, schema["additionalProperties"]]}
