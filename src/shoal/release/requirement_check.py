"""Check of a requirement against the table: its columns, its values, and the population."""

from shoal.errors import PolicyError, ReleaseError, did_you_mean
from shoal.models.model import Model, Need
from shoal.policy.policy import Policy
from shoal.population import Population
from shoal.remedy import ColumnSetting, Setting
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.words import short


def check_requirement(model: Model, table: Table, policy: Policy, register: Population | None) -> None:
    """Refuse a requirement on columns, values or a population that the table does not have."""
    named = getattr(model, "column", None)
    threshold = getattr(model, "threshold", None) if Need.THRESHOLD in model.needs else None
    for name in (named, threshold):
        if name is not None and name not in table:
            raise PolicyError(
                "unknown-column",
                "A requirement names column '{column}', which does not exist.",
                remedy=did_you_mean(name, table.names),
                column=name,
            )
    if named is not None and named not in table.sensitive:
        raise PolicyError(
            "column-not-sensitive",
            "A requirement names column '{column}', which is not sensitive.",
            remedy=ColumnSetting("role", "sensitive"),
            column=named,
        )
    if threshold is not None and threshold not in table.with_role(Role.THRESHOLD):
        raise PolicyError(
            "column-not-threshold",
            "Column '{column}' holds the thresholds of individuals, and does not have that role.",
            remedy=ColumnSetting("role", "threshold"),
            column=threshold,
        )
    if Need.SENSITIVE in model.needs and not table.sensitive:
        raise PolicyError(
            "no-sensitive-column",
            "The requirement {model} protects sensitive values, and no column is sensitive.",
            remedy="Give a column the role sensitive.",
            model=model.name,
        )
    _check_values(model, table)
    if Need.POPULATION in model.needs and (
        policy.population is None or (Need.REGISTER in model.needs and register is None)
    ):
        raise PolicyError(
            "no-population",
            "The requirement {model} compares the table with {what} of the population.",
            remedy=Setting("population.file", "register.csv"),
            model=model.name,
            what="a register" if Need.REGISTER in model.needs else "the size or a register",
        )


def _check_values(model: Model, table: Table) -> None:
    """Refuse a requirement of more distinct sensitive values than a column has."""
    if model.distinct <= 1:
        return
    for view in model.views(table.quasi, table.sensitive):
        column = view.column
        if column is not None and column in table and table[column].size < model.distinct:
            raise ReleaseError(
                "too-few-values",
                "The requirement {model} requires {distinct} distinct values in each class, and column '{column}' "
                "has {values:value}{missing}.",
                remedy="Reduce the requirement, or name another sensitive column.",
                model=model.name,
                distinct=short(model.distinct),
                column=column,
                values=table[column].size,
                missing=", missing included" if table[column].missing else "",
            )
