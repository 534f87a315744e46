"""Best guess: the success of guessing the same number for all individuals."""

import numpy as np

from shoal.recoding.nodes import Floats


def best_guess(numbers: Floats, near: float) -> float:
    """Return the largest share of numbers that one guess misses by at most ``near``.

    >>> best_guess(np.array([1.0, 2.0, 3.0, 9.0]), 0.5)
    0.5
    """
    ordered = np.sort(numbers)
    ends = np.searchsorted(ordered, ordered + 2 * near, side="right")
    return float((ends - np.arange(len(ordered))).max() / len(ordered))
