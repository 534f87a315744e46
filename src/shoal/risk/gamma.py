"""The digamma function."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

_SHIFT = 12
_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)


def digamma(x: ArrayLike) -> NDArray[np.float64]:
    """Return the derivative of ln Γ for positive numbers, to about fourteen digits.

    The recurrence ``ψ(x) = ψ(x + 1) − 1 / x`` leads to large x, where ``ψ(x) = ln x − 1 / 2x − Σ B / x²ⁿ``.

    >>> digamma(1.0).round(12).item()
    -0.577215664902
    """
    x = np.asarray(x, np.float64)
    shift = np.where(x < _SHIFT, np.ceil(_SHIFT - x), 0).astype(np.int64)
    below = np.zeros_like(x)
    for step in range(int(shift.max(initial=0))):
        below += np.where(step < shift, 1 / (x + step), 0.0)
    x = x + shift
    inverse = 1 / (x * x)
    tail = np.zeros_like(x)
    for factor in reversed(_SERIES):
        tail = (tail + factor) * inverse
    return np.asarray(np.log(x) - 0.5 / x - tail - below)
