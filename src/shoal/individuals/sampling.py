"""Evaluation of a sample of persons, with confidence intervals for all."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """A 95 % confidence interval, estimated from a sample."""

    low: float
    high: float


def drawn(weights: NDArray[np.int64], persons: int, seed: int) -> NDArray[np.int64]:
    """Draw persons without replacement; return the number of persons drawn from each row.

    >>> import numpy as np
    >>> int(drawn(np.array([5, 1, 4]), 4, seed=0).sum())
    4
    """
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(int(weights.sum()), persons, replace=False))
    rows = np.searchsorted(np.cumsum(weights), places, side="right")
    return np.bincount(rows, minlength=len(weights)).astype(np.int64)


def share_interval(successes: int, sample: int) -> ConfidenceInterval:
    """Return Wilson's score interval for a share.

    >>> interval = share_interval(0, 100)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.0, 0.037)
    """
    share, scale = successes / sample, 1 + Z * Z / sample
    middle = (share + Z * Z / (2 * sample)) / scale
    half = Z / scale * sqrt(share * (1 - share) / sample + Z * Z / (4 * sample * sample))
    return ConfidenceInterval(max(middle - half, 0.0), min(middle + half, 1.0))


def mean_interval(values: NDArray[np.float64], weights: NDArray[np.int64]) -> ConfidenceInterval:
    """Return the normal interval for the mean of values between 0 and 1, each drawn ``weights`` times."""
    sample = int(weights.sum())
    mean = float((values * weights).sum() / sample)
    spread = float((weights * (values - mean) ** 2).sum()) / max(sample - 1, 1)
    half = Z * sqrt(spread / sample)
    return ConfidenceInterval(max(mean - half, 0.0), min(mean + half, 1.0))
