"""Undoing of perturbations: columns from which the true values of a perturbed column can be computed.

Two ways are recognised: exact relations of several columns, such as weight, height and BMI; and a single column that
tells the value almost exactly, by whatever function, such as its logarithm.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from shoal.errors import PolicyError
from shoal.identification.links import Link, Way, links
from shoal.release.transformation import Transformation
from shoal.remedy import ColumnSetting, either
from shoal.table.role import Role
from shoal.table.scale import scale
from shoal.table.table import Table

_TOLD = 0.05  # of the standard deviation: a column that leaves less unknown tells the values
_FEW = 20  # records from which an estimate is meaningful


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
    for name in perturbed:
        for other in exact:
            rest = remaining(table, name, other)
            if rest is not None and rest < _TOLD:
                raise PolicyError(
                    "perturbation-undone",
                    "The perturbation of column '{column}' has little effect, because '{other}', which the release "
                    "shows as it is, tells its values up to {rest:share} of their standard deviation.",
                    remedy="Perturb '{other}' as well, by as much, or do not release it; or remove the perturbation.",
                    column=name,
                    other=other,
                    rest=rest,
                )


def remaining(table: Table, name: str, other: str) -> float | None:
    """Return the share of the standard deviation of a column that another leaves unknown; None if it has no numbers.

    The rest is estimated by the variance within equal values of the other column, and by the differences between the
    means of its neighbouring values: an unknown function of it is smooth (Rice 1984).

    >>> import shoal
    >>> number = list(range(1, 201))
    >>> table = shoal.read({"x": number, "square": [n * n for n in number], "noise": [n * 37 % 101 for n in number]})
    >>> [round(remaining(table, "x", other), 2) for other in ("square", "noise")]
    [0.01, 1.23]
    """
    places, others = scale(table[name]), scale(table[other])
    if places is None or others is None:
        return None
    rows = table.distinct([name, other])
    values, known = places[rows.codes[0]], others[rows.codes[1]]
    there = np.isfinite(values) & np.isfinite(known)
    values, weights = values[there], rows.counts[there].astype(np.float64)
    _, group = np.unique(known[there], return_inverse=True)
    total = weights.sum()
    if total < _FEW:
        return None
    spread = np.sqrt(np.average((values - np.average(values, weights=weights)) ** 2, weights=weights))
    sizes = np.bincount(group, weights)
    means = np.bincount(group, weights * values) / sizes
    squares = np.bincount(group, weights * (values - means[group]) ** 2)
    within = (squares * sizes / np.maximum(sizes - 1, 1)).sum()
    between = (np.minimum(sizes[1:], sizes[:-1]) * np.diff(means) ** 2 / 2)[(sizes[1:] == 1) | (sizes[:-1] == 1)].sum()
    return float(np.sqrt((within + between) / total) / spread) if spread > 0 else None


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
