"""Requirements of one table of a dataset: common requirements apply to each table that has the columns concerned."""

from collections.abc import Collection, Mapping
from typing import Any

from shoal.errors import PolicyError
from shoal.models.model import Model, Need
from shoal.policy.policy import Policy
from shoal.policy.requirements import PresetRequirement
from shoal.presets.preset import PRESETS
from shoal.table.role import Role


def fitting(require: list[Any], sensitive: Collection[str]) -> list[Any]:
    """Return the requirements that apply to a table with the given sensitive columns."""
    chosen: list[Any] = []
    for asked in require:
        models = (
            [criterion.requirement() for criterion in PRESETS[asked.preset].criteria] if _is_preset(asked) else [asked]
        )
        kept = [model for model in models if _fits(model, sensitive)]
        chosen += [asked] if len(kept) == len(models) else kept
    return chosen


def about(models: Collection[Model], column: str) -> tuple[Model, ...]:
    """Return the requirements that concern a sensitive column."""
    return tuple(
        model for model in models if Need.SENSITIVE in model.needs and getattr(model, "column", None) in {None, column}
    )


def check_named(policy: Policy) -> None:
    """Reject a requirement for a column that is sensitive in no table.

    Requirements for sensitive values are also rejected if no table has a sensitive column.
    """
    sensitive = {
        name
        for table_policy in policy.tables.values()
        for name, column in table_policy.columns.items()
        if column.role is Role.SENSITIVE
    }
    for _, _, model in _all(policy):
        if Need.THRESHOLD in model.needs:
            raise PolicyError(
                "thresholds-of-several-tables",
                "The requirement {model} applies to a single table.",
                remedy="Remove it from the policy of the dataset.",
                model=model.name,
            )
        named = getattr(model, "column", None)
        if named is not None and named not in sensitive:
            raise PolicyError(
                "column-not-sensitive",
                "A requirement names column '{column}', which is sensitive in no table.",
                column=named,
            )
        if Need.SENSITIVE in model.needs and not sensitive:
            raise PolicyError(
                "no-sensitive-column",
                "The requirement {model} protects sensitive values, and no column is sensitive.",
                model=model.name,
            )


def _all(policy: Policy) -> list[tuple[str, str, Model]]:
    parts: Mapping[str, Policy] = {name: policy.of(name) for name in policy.tables}
    return [asked for part in parts.values() for asked in part.requirements()]


def _is_preset(asked: Any) -> bool:
    return isinstance(asked, PresetRequirement)


def _fits(model: Model, sensitive: Collection[str]) -> bool:
    if Need.SENSITIVE not in model.needs:
        return True
    named = getattr(model, "column", None)
    return bool(sensitive) if named is None else named in sensitive
