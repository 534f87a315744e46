"""Weighted sums: numbers that are weighted sums of others, or products of powers, up to errors of single records."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.recoding.nodes import Floats

TOLD = 0.05  # of the standard deviation: a number is given almost exactly if it deviates by no more
_EXTREME = 6.0  # median absolute deviations from the median
_VARIED = 10  # different numbers that coincide, so that it is no chance
_FEW = 20  # records for each column, from which a sum need not be exact
_EXACTLY = 1e-6  # of the spread: a sum of few records, or of few different numbers, must be exact
_SPARE = 10  # records beyond the number of weights, from which an exact sum is no chance
_REGULAR = 0.75  # share of the records that determine the weights of a sum
_FITS = 5  # rounds in which they are chosen


def regular(columns: Sequence[Floats]) -> NDArray[np.bool_]:
    """Return the records without an extreme number, such as a slip of the decimal point; all if these are few.

    >>> regular([np.append(np.arange(20.0), 1e6)]).sum()
    np.int64(20)
    """
    usual = np.ones(len(columns[0]), bool)
    for numbers in columns:
        middle = np.median(numbers)
        usual &= np.abs(numbers - middle) <= _EXTREME * max(float(np.median(np.abs(numbers - middle))), 1e-300)
    return usual if usual.mean() >= 0.5 else np.ones(len(usual), bool)


def fitted(
    values: Floats, original: Floats, others: Sequence[Floats], back: Callable[[Floats], Floats] = np.asarray
) -> float:
    """Return the share of some numbers that a weighted sum of others gives almost exactly.

    The weights are those of least squares for three quarters of the records, which wrong entries do not distort.
    ``original``: the numbers on the scale on which errors are measured; ``back``: leads to this scale. The most
    frequent number does not count. If there are few records or different numbers, they must be given exactly.

    >>> rng = np.random.default_rng(0)
    >>> parts = rng.normal(0, 1, (3, 500))
    >>> total = np.where(np.arange(500) < 50, 0, parts.sum(0))
    >>> fitted(total, total, [*parts]), fitted(parts[0], parts[0], [*parts[1:]]) < 0.1
    (1.0, True)
    """
    there = np.isfinite(values) & np.logical_and.reduce([np.isfinite(other) for other in others])
    values, original = values[there], original[there]
    if len(values) <= len(others) + _SPARE or original.min() == original.max():
        return 0.0
    known = np.stack([np.ones(len(values)), *(other[there] for other in others)], axis=1)
    known /= np.maximum(np.abs(known).max(axis=0), np.finfo(float).tiny)
    chosen = regular([values, *(other[there] for other in others)])
    for _ in range(_FITS):
        sums = known @ np.linalg.lstsq(known[chosen], values[chosen], rcond=None)[0]
        chosen = np.abs(values - sums) <= np.quantile(np.abs(values - sums), _REGULAR)
    rest, spread = np.abs(original - back(sums)), _spread(original)
    _, place, counts = np.unique(original, return_inverse=True, return_counts=True)
    rare = place != np.argmax(counts) if counts.max() > 1 else np.ones(len(values), bool)
    close = rare & (rest <= TOLD * spread)
    if len(values) < _FEW * (len(others) + 1) or len(np.unique(original[close])) < _VARIED:
        close = rare & (rest <= _EXACTLY * spread)
    return float(close.sum() / rare.sum()) if rare.any() else 0.0


def _spread(numbers: Floats) -> float:
    """Return the standard deviation of some numbers, or that of their middle half if it is smaller: without outliers.

    >>> _spread(np.append(np.arange(100.0), 1e6)) < 40
    True
    """
    low, high = np.quantile(numbers, [0.25, 0.75])
    return float(min(numbers.std(), (high - low) / 1.349 or np.inf))
