"""Derivations: columns whose values can be computed from other columns of the same record, exactly or nearly.

Four ways are recognised: a value that goes with each value of another column (a postcode tells the district), ranges of
a number (a measurement tells the flag that is set above a limit), an almost exact function of a number (the year of
birth tells the age), and a weighted sum or product of powers (weight and body mass index tell the height). Errors of
single records do not matter.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.links import Floats, Sample
from shoal.analyses.weighted_sums import TOLD, fitted, regular
from shoal.kernels.grouping import group
from shoal.table.table import Table

_RECORDS = 5_000  # of the sample
_FEWEST, _VARIED = 30, 10  # minimum number of records, and of those without the most frequent value
_MOSTLY = 0.8  # minimum share of correctly derived values among those that differ from the most frequent one
_FEW = 20  # records from which an estimate is meaningful
_MOST = 30  # columns of which weighted sums are tried
_WORTH = 0.5  # explained variance from which a weighted sum is sought


@dataclass(frozen=True, slots=True)
class Derivation:
    """A column whose values follow from others."""

    target: str
    columns: tuple[str, ...]


def derivations(table: Table, targets: Sequence[str], shown: Sequence[str], *, seed: int = 0) -> list[Derivation]:
    """Return which columns tell each target, alone or several numbers together, judged by a sample of the records.

    >>> import shoal
    >>> table = shoal.read({"flag": ["no"] * 60 + ["yes"] * 60, "level": [*range(120)], "ward": ["a", "b"] * 60})
    >>> derivations(table, ["flag"], ["level", "ward"])
    [Derivation(target='flag', columns=('level',))]
    """
    if not targets or not shown:
        return []
    sample = Sample.of(table, dict.fromkeys((*targets, *shown)), seed, most=_RECORDS, by_person=True)
    if sample.records < _FEWEST:
        return []
    alone = [Derivation(target, (other,)) for target in targets for other in _telling(sample, target, shown)]
    known = {(derivation.target, *derivation.columns) for derivation in alone}
    together = [Derivation(target, _computed(sample, target, shown)) for target in targets]
    return [*alone, *(more for more in together if more.columns and (more.target, *more.columns) not in known)]


def _telling(sample: Sample, target: str, shown: Sequence[str]) -> Iterator[str]:
    """Yield the columns that tell a column by themselves."""
    codes = sample.codes[target].astype(np.int64)
    common = int(np.bincount(codes).max(initial=0))
    for other in shown if sample.records - common >= _VARIED else ():
        if other == target:
            continue
        needed = common + _MOSTLY * (sample.records - common)
        if (
            _beside_equal(sample, target, other) >= needed
            or _beside_next(sample, target, other) >= needed
            or _is_function(sample, target, other)
        ):
            yield other


def _beside_equal(sample: Sample, target: str, other: str) -> int:
    """Return how many records have the value that most of the other records with an equal value have."""
    size = sample.sizes[target]
    pairs = group(sample.codes[other] * np.uint64(size) + sample.codes[target], size * sample.sizes[other])
    counts = np.bincount(pairs.ids, minlength=len(pairs))
    which = sample.codes[other][pairs.first].astype(np.intp)
    most = np.zeros(sample.sizes[other], np.int64)
    np.maximum.at(most, which, counts)
    at_most = np.bincount(which, counts == most[which], sample.sizes[other])
    second = np.zeros(sample.sizes[other], np.int64)
    np.maximum.at(second, which, np.where(counts < most[which], counts, 0))
    second = np.where(at_most > 1, most, second)
    right = counts - 1 > second[which]
    return int(counts[right].sum())


def _beside_next(sample: Sample, target: str, other: str) -> int:
    """Return how many records have the value of the next one in the order of a number; equal numbers are shuffled."""
    numbers = sample.numbers.get(other)
    if numbers is None or sample.sizes[other] <= sample.sizes[target]:
        return 0
    there = np.flatnonzero(np.isfinite(numbers))
    shuffled = np.random.default_rng(0).permutation(len(there))
    codes = sample.codes[target][there][np.lexsort([shuffled, numbers[there]])]
    return int(np.count_nonzero(codes[1:] == codes[:-1]))


def _is_function(sample: Sample, target: str, other: str) -> bool:
    if target not in sample.numbers or other not in sample.numbers:
        return False
    rest = remaining(sample.numbers[target], sample.numbers[other])
    return rest is not None and rest < TOLD


def _computed(sample: Sample, target: str, shown: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of which the target is a weighted sum or a product of powers; none if it is neither."""
    names = [name for name in shown if name in sample.numbers and name != target][:_MOST]
    values = sample.numbers.get(target)
    if values is None or not names:
        return ()
    for view in (_plain, _logarithms):
        told, seen = view(values), {name: view(sample.numbers[name]) for name in names}
        others = {name: numbers for name, numbers in seen.items() if numbers is not None}
        if told is not None and others and _explains(told, [*others.values()]):
            columns = _fewest(values, others, told, view)
            if columns:
                return columns
    return ()


def _plain(numbers: Floats) -> Floats | None:
    return numbers


def _logarithms(numbers: Floats) -> Floats | None:
    return np.log(numbers) if np.nanmin(numbers, initial=1) > 0 else None


def _explains(told: Floats, others: Sequence[Floats]) -> bool:
    """Return whether it is worth while to look closer: usual numbers are explained to a large part."""
    there = np.logical_and.reduce([np.isfinite(numbers) for numbers in (told, *others)])
    if np.count_nonzero(there) <= len(others) + 1:
        return False
    known = [part[there] for part in (told, *others)]
    usual = regular(known)
    if np.count_nonzero(usual) <= len(others) + 1:
        return False
    centred = [part[usual] - part[usual].mean() for part in known]
    causes = np.stack(centred[1:], axis=1) / [part.std() or 1.0 for part in centred[1:]]
    rest = centred[0] - causes @ np.linalg.lstsq(causes, centred[0], rcond=None)[0]
    return bool(rest.var() <= (1 - _WORTH) * centred[0].var())


def _fewest(values: Floats, others: dict[str, Any], told: Floats, view: Callable[[Floats], Any]) -> tuple[str, ...]:
    """Return as few columns as tell enough of the values; none if all together do not."""
    back = np.exp if view is _logarithms else np.asarray

    def tells(names: Sequence[str]) -> bool:
        return bool(names) and fitted(told, values, [others[name] for name in names], back) >= _MOSTLY

    chosen = list(others)
    if not tells(chosen):
        return ()
    for name in list(others):
        without = [other for other in chosen if other != name]
        chosen = without if tells(without) else chosen
    return tuple(chosen)


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
    _, which = np.unique(others[there], return_inverse=True)
    sizes: NDArray[np.int64] = np.bincount(which)
    means = np.bincount(which, values) / sizes
    squares = np.bincount(which, (values - means[which]) ** 2)
    within = (squares * sizes / np.maximum(sizes - 1, 1)).sum()
    lone = (sizes[1:] == 1) | (sizes[:-1] == 1)
    between = (np.minimum(sizes[1:], sizes[:-1]) * np.diff(means) ** 2 / 2)[lone].sum()
    return float(np.sqrt((within + between) / number) / values.std())
