"""Undoing of perturbations: columns from which the true values of a perturbed column can be computed.

Four ways are recognised: exact relations of several columns, such as weight, height and BMI; weighted sums and products
of any number of columns; a single column that tells the value almost exactly, by whatever function, such as its
logarithm; and a number whose ranges are the values, such as the measurement behind a flag.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np

from shoal.analyses.derivations import remaining
from shoal.analyses.links import Floats, Sample, links
from shoal.analyses.weighted_sums import TOLD, fitted
from shoal.errors import PolicyError
from shoal.release.transformation import Transformation
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.words import share

_MANY = 0.5  # share of the values that may not follow from other columns
_VARIED = 10  # different numbers that coincide, so that it is no chance
_PLACES = 6  # decimal places to which sums agree
_MOST = 30  # columns of which sums and differences are tried
_FEW = 20  # records from which an estimate is meaningful; for a sum, for each of its columns
_RARELY = 0.25  # of the changes expected by chance: the values of a flag follow from a number


def check_undone(table: Table, perturbed: Sequence[str], transformation: Transformation) -> None:
    """Refuse a perturbation that other released columns undo, such as that of the weight beside height and BMI."""
    exact = [name for name in table.names if name not in perturbed and is_exact(table, transformation, name)]
    if not exact:
        return
    sample = Sample.of(table, [*perturbed, *exact], 0)
    for name in perturbed:
        for others, how in (
            *_related(table, name, exact, perturbed),
            *_alike(sample, name, exact),
            *_told(sample, name, exact),
            *_stepped(sample, name, exact),
            *_computed(sample, name, exact),
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
        others = tuple(sorted(link.determining(name)))
        if others and not {*perturbed} & {*others} and _is_told_often(table, name):
            yield others, "its values follow from"


def _is_told_often(table: Table, name: str) -> bool:
    """Return whether enough records have another value than most: a rare one may follow from any column by chance."""
    counts = table.counts(name)
    return int(counts.sum() - counts.max(initial=0)) >= _VARIED


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
        if rest is not None and rest < TOLD:
            yield (other,), f"its values follow, up to {share(rest)} of their standard deviation, from"


def _stepped(sample: Sample, name: str, exact: Sequence[str]) -> Iterator[Undoing]:
    """Yield the numbers in whose order the values of a column hardly change."""
    for other, numbers in ((other, sample.numbers[other]) for other in exact if other in sample.numbers):
        there = np.isfinite(numbers) & sample.known[name]
        codes, order = sample.codes[name][there].astype(np.int64), numbers[there]
        expected = len(codes) * (1 - ((np.bincount(codes) / max(len(codes), 1)) ** 2).sum())  # changes by chance
        if expected >= _FEW and sample.sizes[other] > sample.sizes[name]:
            shuffled = np.random.default_rng(0).permutation(len(codes))  # order of records with equal numbers
            if np.count_nonzero(np.diff(codes[np.lexsort([shuffled, order])])) < _RARELY * expected:
                yield (other,), "its values are ranges of"


def _computed(sample: Sample, name: str, exact: Sequence[str]) -> Iterator[Undoing]:
    """Yield the columns from which many values are computed as a weighted sum, or as a product of powers."""
    values = sample.numbers.get(name)
    known = {other: sample.numbers[other] for other in exact if other in sample.numbers}
    if values is None or not known:
        return
    weighted = dict([*known.items()][:_MOST])
    if (part := fitted(values, values, [*weighted.values()])) > _MANY:
        yield tuple(weighted), f"{share(part)} of its values are weighted sums of"
    positive = {other: np.log(numbers) for other, numbers in weighted.items() if np.nanmin(numbers, initial=1) > 0}
    if positive and np.nanmin(values, initial=1) > 0:
        part = fitted(np.log(values), values, [*positive.values()], np.exp)
        if part > _MANY:
            yield tuple(positive), f"{share(part)} of its values are products of powers of"


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


def is_exact(table: Table, transformation: Transformation, name: str) -> bool:
    """Return whether the release shows a column without generalisation."""
    if name in transformation.cells:
        return bool(transformation.cells[name][0].values.equals(table[name].values))
    return name in {*table.sensitive, *table.with_role(Role.INSENSITIVE)}
