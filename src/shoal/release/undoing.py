"""Undoing of perturbations: columns from which the true values of a perturbed column can be computed."""

from collections.abc import Iterator, Sequence

from shoal.errors import PolicyError
from shoal.identification.links import Link, Way, links
from shoal.release.transformation import Transformation
from shoal.remedy import ColumnSetting, either
from shoal.table.role import Role
from shoal.table.table import Table


def check_undone(table: Table, perturbed: Sequence[str], transformation: Transformation) -> None:
    """Refuse a perturbation that other released columns undo, such as that of the weight beside height and BMI."""
    exact = [name for name in table.names if name not in perturbed and _is_exact(table, transformation, name)]
    for name in perturbed if exact else ():
        for link in links(table, [name, *exact]):
            others = tuple(sorted({*link.columns, link.told} - {name}))
            if name in _told(link) and not {*perturbed} & {*others}:
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


def _is_exact(table: Table, transformation: Transformation, name: str) -> bool:
    """Return whether the release shows a column without generalisation."""
    if name in transformation.cells:
        return bool(transformation.cells[name][0].values.equals(table[name].values))
    return name in {*table.sensitive, *table.with_role(Role.INSENSITIVE)}


def _told(link: Link) -> Iterator[str]:
    """Yield the columns whose values follow from the others of a link."""
    yield link.told
    if link.both or link.way is not Way.DETERMINES:
        yield from link.columns
