"""Derivable columns: generalised quasi-identifiers whose values other released columns tell."""

from shoal.analyses.derivations import Derivation, derivations
from shoal.errors import PolicyError, did_you_mean
from shoal.release.case import Case
from shoal.release.transformation import Transformation
from shoal.release.undoing import is_exact
from shoal.remedy import Setting, either
from shoal.table.role import Role


def check_derivable(case: Case, transformation: Transformation) -> None:
    """Refuse to generalise a column whose values follow from columns that the release shows as they are.

    An exact quasi-identifier that tells a generalised one is no problem: individuals of a class share its value.
    """
    found = derivable(case, transformation)
    if not found:
        return
    targets = list(dict.fromkeys(derivation.target for derivation in found))
    others = [name for derivation in found if derivation.target == targets[0] for name in derivation.columns]
    raise PolicyError(
        "derivable",
        "Quasi-identifier '{column}' is generalised, but its values follow from {others:listed}, which the release "
        "shows as they are.",
        remedy=either("Give these columns the role quasi", "do not release them", Setting("search.derivable", targets)),
        column=targets[0],
        others=list(dict.fromkeys(others)),
    )


def check_accepted(case: Case) -> None:
    """Refuse to accept that other columns tell the values of a column that is no quasi-identifier."""
    for name in case.policy.search.derivable:
        if name not in case.table.quasi:
            raise PolicyError(
                "derivable-column",
                "Column '{column}' under derivable is not a quasi-identifier of the table.",
                remedy=did_you_mean(name, case.table.quasi),
                column=name,
            )


def derivable(case: Case, transformation: Transformation) -> list[Derivation]:
    """Return how generalised quasi-identifiers follow from other columns, except those that the policy accepts."""
    table, split = case.table, transformation.split
    apart = () if split is None else split.columns
    changed = {*transformation.coarsened, *(change.name for change in transformation.drawn), *apart}
    exact = [name for name in table.names if name not in changed and is_exact(table, transformation, name)]
    beside = [name for name in exact if name in {*table.sensitive, *table.with_role(Role.INSENSITIVE)}]
    hidden = [
        name
        for name in table.quasi
        if name not in {*exact, *changed, *case.policy.search.derivable} and name in transformation.cells
    ]
    found = derivations(table, hidden, [*beside, *(name for name in exact if name in table.quasi)]) if beside else []
    return [derivation for derivation in found if {*derivation.columns} & {*beside}]
