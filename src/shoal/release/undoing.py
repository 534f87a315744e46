"""Undoing of perturbations: columns from which the true values of a perturbed column can be computed.

Two ways are recognised: exact relations of several columns, such as weight, height and BMI; and a single column that
tells the value almost exactly, by whatever function, such as its logarithm.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np

from shoal.errors import PolicyError
from shoal.identification.links import Floats, Link, Sample, Way, links
from shoal.release.transformation import Transformation
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.words import share

_TOLD = 0.05  # of the standard deviation: a column that leaves less unknown tells the values
_MANY = 0.5  # share of the values that may not follow from other columns
_VARIED = 10  # different numbers that coincide, so that it is no chance
_PLACES = 6  # decimal places to which sums agree
_MOST = 30  # columns of which sums and differences are tried
_FEW = 20  # records from which an estimate is meaningful


def check_undone(table: Table, perturbed: Sequence[str], transformation: Transformation) -> None:
    """Refuse a perturbation that other released columns undo, such as that of the weight beside height and BMI."""
    exact = [name for name in table.names if name not in perturbed and _is_exact(table, transformation, name)]
    if not exact:
        return
    sample = Sample.of(table, [*perturbed, *exact], 0)
    for name in perturbed:
        for others, how in (
            *_related(table, name, exact, perturbed),
            *_alike(sample, name, exact),
            *_told(sample, name, exact),
        ):
            raise PolicyError(
                "perturbation-undone",
                "The perturbation of column '{column}' has little effect, because {how} {others:listed}, which the "
                "release shows as they are.",
                remedy="Perturb these columns as well, by as much, or do not release them; or remove the perturbation.",
                column=name,
                how=how,
                others=others,
            )


Undoing: TypeAlias = tuple[tuple[str, ...], str]  # the columns that undo a perturbation, and how


def _related(table: Table, name: str, exact: Sequence[str], perturbed: Sequence[str]) -> Iterator[Undoing]:
    """Yield the columns that determine a column by a known relation."""
    for link in links(table, [name, *exact]):
        others = tuple(sorted({*link.columns, link.told} - {name}))
        if name in _determined(link) and not {*perturbed} & {*others}:
            yield others, "its values follow from"


def _alike(sample: Sample, name: str, exact: Sequence[str]) -> Iterator[Undoing]:
    """Yield the columns of which many values are a copy, and pairs of which many are the sum or the difference.

    An exception, or a wrong entry, does not protect the other individuals.
    """
    known = [other for other in exact if other in sample.numbers][:_MOST]
    for others in (*((other,) for other in known), *combinations(known, 2)) if name in sample.numbers else ():
        first, *second = (sample.numbers[other] for other in others)
        for way in (first,) if not second else (first - second[0], first + second[0]):
            part = max(alike(sample.numbers[name], way), alike(sample.numbers[name], -way))
            if part > _MANY:
                yield others, f"{share(part)} of its values follow from"


def _told(sample: Sample, name: str, exact: Sequence[str]) -> Iterator[Undoing]:
    """Yield the columns that tell the values of a column almost exactly, by whatever function."""
    for other in exact if name in sample.numbers else ():
        rest = remaining(sample.numbers[name], sample.numbers[other]) if other in sample.numbers else None
        if rest is not None and rest < _TOLD:
            yield (other,), f"its values follow, up to {share(rest)} of their standard deviation, from"


def alike(values: Floats, others: Floats) -> float:
    """Return the share of some numbers that differ from others by one and the same constant.

    The most frequent number does not count: it may coincide by chance. If few different numbers coincide, it is 0.

    >>> numbers = np.arange(1.0, 101)
    >>> alike(numbers, np.where(numbers < 20, 0, numbers + 5)), alike(numbers, numbers % 2)
    (0.81, 0.0)
    """
    there = np.isfinite(values) & np.isfinite(others)
    values, others = values[there], others[there]
    if not len(values):
        return 0.0
    distinct, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    rare = place != np.argmax(counts) if counts.max() > 1 else np.ones(len(values), bool)
    differences, which, number = np.unique(
        np.round(values[rare] - others[rare], _PLACES), return_inverse=True, return_counts=True
    )
    if not len(differences) or len(distinct) < _VARIED:
        return 0.0
    same = which == np.argmax(number)
    is_varied = len(np.unique(values[rare][same])) >= _VARIED
    return float(np.count_nonzero(same) / np.count_nonzero(rare)) if is_varied else 0.0


def remaining(values: Floats, others: Floats) -> float | None:
    """Return the share of the standard deviation of some numbers that others leave unknown; None if there are too few.

    The rest is estimated by the variance within equal values of the others, and by the differences between the means of
    neighbouring ones: an unknown function is smooth (Rice 1984). Missing numbers are NaN.

    >>> numbers = np.arange(1.0, 201)
    >>> [round(remaining(numbers, others), 2) for others in (numbers**2, numbers * 37 % 101)]
    [0.01, 1.23]
    """
    there = np.isfinite(values) & np.isfinite(others)
    values, number = values[there], int(np.count_nonzero(there))
    if number < _FEW or values.min() == values.max():
        return None
    _, group = np.unique(others[there], return_inverse=True)
    sizes = np.bincount(group)
    means = np.bincount(group, values) / sizes
    squares = np.bincount(group, (values - means[group]) ** 2)
    within = (squares * sizes / np.maximum(sizes - 1, 1)).sum()
    lone = (sizes[1:] == 1) | (sizes[:-1] == 1)
    between = (np.minimum(sizes[1:], sizes[:-1]) * np.diff(means) ** 2 / 2)[lone].sum()
    return float(np.sqrt((within + between) / number) / values.std())


def _is_exact(table: Table, transformation: Transformation, name: str) -> bool:
    """Return whether the release shows a column without generalisation."""
    if name in transformation.cells:
        return bool(transformation.cells[name][0].values.equals(table[name].values))
    return name in {*table.sensitive, *table.with_role(Role.INSENSITIVE)}


def _determined(link: Link) -> Iterator[str]:
    """Yield the columns whose values follow from the others of a link."""
    yield link.told
    if link.both or link.way is not Way.DETERMINES:
        yield from link.columns
