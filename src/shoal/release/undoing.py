"""Undoing of perturbations: columns from which the true values of a perturbed column can be computed."""

from collections.abc import Iterator

from shoal.errors import PolicyError
from shoal.identification.links import Link, Way, links
from shoal.release.case import Case
from shoal.release.transformation import Transformation
from shoal.remedy import ColumnSetting, either
from shoal.table.role import Role


def check_undone(case: Case, transformation: Transformation) -> None:
    """Refuse a perturbation that other released columns undo, such as that of the weight beside height and BMI."""
    perturbed = set(case.perturbations)
    exact = [name for name in case.table.names if name not in perturbed and _is_exact(case, transformation, name)]
    if not perturbed or not exact:
        return
    for name in case.perturbations:
        for link in links(case.table, [name, *exact]):
            others = tuple(sorted({*link.columns, link.told} - {name}))
            if name in _told(link) and perturbed.isdisjoint(others):
                raise PolicyError(
                    "perturbation-undone",
                    "The perturbation of column '{column}' has no effect, because its values follow from "
                    "{others:listed}, which the release shows as they are.",
                    remedy=either(
                        ColumnSetting("role", "direct"),
                        "perturb these columns as well",
                        "remove the perturbation",
                    ),
                    column=name,
                    others=others,
                )


def _is_exact(case: Case, transformation: Transformation, name: str) -> bool:
    """Return whether the release shows a column without generalisation."""
    if name in transformation.cells:
        return bool(transformation.cells[name][0].values.equals(case.table[name].values))
    return name in {*case.table.sensitive, *case.table.with_role(Role.INSENSITIVE)}


def _told(link: Link) -> Iterator[str]:
    """Yield the columns whose values follow from the others of a link."""
    yield link.told
    if link.both or link.way is not Way.DETERMINES:
        yield from link.columns
