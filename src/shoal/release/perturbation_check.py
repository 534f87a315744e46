"""Checks of the perturbations that a policy requires, before anything is searched."""

from shoal.errors import PolicyError, did_you_mean
from shoal.perturbations.perturbation import Perturbation
from shoal.policy.policy import Policy
from shoal.remedy import ColumnSetting, either
from shoal.table.role import Role
from shoal.table.table import Table


def check_perturbations(table: Table, policy: Policy) -> None:
    """Refuse perturbations of columns that they do not apply to."""
    for name, settings in policy.columns.items():
        if settings.perturb is not None and name in table:
            _check_role(table, name, settings.perturb, policy)
            settings.perturb.check(table[name])
            _check_read(table, name, settings.perturb)


def _check_role(table: Table, name: str, perturbation: Perturbation, policy: Policy) -> None:
    """Refuse the perturbation of a column that is not sensitive or insensitive, or whose dates are shifted."""
    role = table.roles.get(name)
    if role not in {Role.SENSITIVE, Role.INSENSITIVE}:
        raise PolicyError(
            "perturbation-of-role",
            "Column '{column}' cannot be perturbed, because it is {role}.",
            remedy=either(ColumnSetting("role", "sensitive"), "remove its perturbation"),
            column=name,
            role="not released" if role is None else f"a column with the role {role}",
        )
    if policy.dates is not None and name in policy.dates.columns:
        raise PolicyError(
            "perturbed-and-shifted",
            "The dates of column '{column}' are shifted, so they cannot be perturbed by kind = \"{kind}\" as well.",
            remedy="Remove one of the two.",
            column=name,
            kind=perturbation.kind,
        )


def _check_read(table: Table, name: str, perturbation: Perturbation) -> None:
    """Refuse a perturbation that reads columns which the table does not have."""
    for other in perturbation.reads(()):
        if other not in table:
            raise PolicyError(
                "perturbation-reads-unknown",
                "The perturbation of column '{column}' names column '{other}', which does not exist.",
                remedy=did_you_mean(other, table.names),
                column=name,
                other=other,
            )
