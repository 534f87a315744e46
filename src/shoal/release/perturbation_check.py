"""Checks of the perturbations that a policy requires, before anything is searched."""

from shoal.attacks.attack import ATTACKS
from shoal.errors import PolicyError, did_you_mean
from shoal.perturbations.perturbation import Perturbation
from shoal.policy.policy import Policy
from shoal.remedy import ColumnSetting, Setting, either
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.techniques.technique import Allows, allowing

_READABLE = frozenset({Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE})


def perturbations(table: Table, policy: Policy) -> dict[str, Perturbation]:
    """Return the perturbation of each perturbed column of a table."""
    named = {name: policy.columns[name].perturb for name in table.names if name in policy.columns}
    return {name: perturbation for name, perturbation in named.items() if perturbation is not None}


def check_perturbations(table: Table, policy: Policy) -> None:
    """Refuse perturbations of columns that they do not apply to."""
    for name, perturbation in perturbations(table, policy).items():
        _check_role(table, name, perturbation, policy)
        perturbation.check(table[name])
        _check_read(table, name, perturbation)


def _check_role(table: Table, name: str, perturbation: Perturbation, policy: Policy) -> None:
    """Refuse the perturbation of a column that is not released, or whose dates are shifted."""
    role = table.roles.get(name)
    if role is Role.QUASI:
        _check_quasi(table, name, perturbation, policy)
    elif role not in {Role.SENSITIVE, Role.INSENSITIVE}:
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


def _check_quasi(table: Table, name: str, perturbation: Perturbation, policy: Policy) -> None:
    """Refuse the perturbation of a quasi-identifier, unless it is generalisation or its protection is measured."""
    settings = policy.columns[name]
    if settings.linked is not None or name in policy.leaders.values() or settings.show != "label":
        raise PolicyError(
            "perturbed-and-linked",
            "Column '{column}' cannot be perturbed, because it is linked to another column or shows a value per class.",
            column=name,
        )
    if not perturbation.is_random and Allows.LEVELS not in policy.search.technique.allows:
        raise PolicyError(
            "perturbation-of-technique",
            "Column '{column}' is a quasi-identifier, whose perturbation is the lowest level of its hierarchy. The "
            "technique '{technique}' does not support it.",
            remedy=either(
                *(Setting("search.recoding", technique.called()) for technique in allowing(Allows.LEVELS)),
                "remove the perturbation",
            ),
            column=name,
            technique=policy.search.technique.kind,
        )
    refusal = perturbation.refusal(has_several_values=int(table.persons(name).sum()) > table.person_count)
    if refusal is not None:
        raise PolicyError(
            "perturbation-of-quasi-identifier",
            "Column '{column}' is a quasi-identifier, and its perturbation cannot become the first level of its "
            "hierarchy: {reason}.",
            remedy=either("Change the perturbation", ColumnSetting("role", "sensitive")),
            column=name,
            reason=refusal,
        )
    if perturbation.is_random and not any(ATTACKS[limit.attack].judges_perturbed for limit in policy.attack_limits):
        raise PolicyError(
            "perturbed-quasi-identifier",
            "Column '{column}' is a quasi-identifier, and its values are drawn at random. Classes of equal values say "
            "nothing about the protection of individuals then, so it must be measured by an attack.",
            remedy=either(
                Setting("require", [{"attack": "linkage-rate", "at_most": 0.05}]),
                ColumnSetting("role", "sensitive"),
                "remove the perturbation",
            ),
            column=name,
        )


def _check_read(table: Table, name: str, perturbation: Perturbation) -> None:
    """Refuse a perturbation that reads columns which the table does not have."""
    for other in perturbation.reads(()):
        if other == name or (other in table and table.roles.get(other) not in _READABLE):
            raise PolicyError(
                "perturbation-reads-role",
                "The perturbation of column '{column}' names column '{other}', which is {what}.",
                remedy="Name other quasi-identifiers, sensitive or insensitive columns.",
                column=name,
                other=other,
                what="the column itself" if other == name else "not released",
            )
        if other not in table:
            raise PolicyError(
                "perturbation-reads-unknown",
                "The perturbation of column '{column}' names column '{other}', which does not exist.",
                remedy=did_you_mean(other, table.names),
                column=name,
                other=other,
            )
