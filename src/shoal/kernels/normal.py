"""Normal random numbers from random words, and normal scores of ranks.

Wichura 1988 (algorithm AS 241): the normal quantile with 16 significant digits.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_CENTRE = (
    (
        2509.0809287301226727,
        33430.575583588128105,
        67265.770927008700853,
        45921.953931549871457,
        13731.693765509461125,
        1971.5909503065514427,
        133.14166789178437745,
        3.387132872796366608,
    ),
    (
        5226.495278852545925,
        28729.085735721942674,
        39307.89580009271061,
        21213.794301586595867,
        5394.1960214247511077,
        687.1870074920579083,
        42.313330701600911252,
        1.0,
    ),
)
_SIDE = (
    (
        7.7454501427834140764e-4,
        0.0227238449892691845833,
        0.24178072517745061177,
        1.27045825245236838258,
        3.64784832476320460504,
        5.7694972214606914055,
        4.6303378461565452959,
        1.42343711074968357734,
    ),
    (
        1.05075007164441684324e-9,
        5.475938084995344946e-4,
        0.0151986665636164571966,
        0.14810397642748007459,
        0.68976733498510000455,
        1.6763848301838038494,
        2.05319162663775882187,
        1.0,
    ),
)
_TAIL = (
    (
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        0.0012426609473880784386,
        0.026532189526576123093,
        0.29656057182850489123,
        1.7848265399172913358,
        5.4637849111641143699,
        6.6579046435011037772,
    ),
    (
        2.04426310338993978564e-15,
        1.4215117583164458887e-7,
        1.8463183175100546818e-5,
        7.868691311456132591e-4,
        0.0148753612908506148525,
        0.13692988092273580531,
        0.59983220655588793769,
        1.0,
    ),
)


def uniform(words: NDArray[np.uint64]) -> Floats:
    """Return a number strictly between 0 and 1 for each word: the centre of one of 2⁵² equal intervals.

    >>> uniform(np.array([0, 1 << 63], np.uint64)).round(3).tolist()
    [0.0, 0.5]
    """
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) / 2.0**52


def normal(words: NDArray[np.uint64]) -> Floats:
    """Return a standard normal number for each random word.

    >>> normal(np.array([1 << 63], np.uint64)).round(9).tolist()
    [0.0]
    """
    return quantile(uniform(words))


def quantile(shares: Floats) -> Floats:
    """Return the standard normal quantile of each share, strictly between 0 and 1.

    >>> quantile(np.array([0.025, 0.5, 0.975])).round(6).tolist()
    [-1.959964, 0.0, 1.959964]
    """
    centred = shares - 0.5
    result = centred * _ratio(_CENTRE, 0.180625 - centred * centred)
    outer = np.flatnonzero(np.abs(centred) > 0.425)
    far = np.sqrt(-np.log(np.minimum(shares[outer], 1 - shares[outer])))
    beyond = np.where(far <= 5, _ratio(_SIDE, far - 1.6), _ratio(_TAIL, far - 5))
    result[outer] = np.copysign(beyond, centred[outer])
    return result


def _ratio(coefficients: tuple[Sequence[float], Sequence[float]], at: Floats) -> Floats:
    """Return the quotient of two polynomials, whose highest coefficients come first."""
    above, below = (_polynomial(part, at) for part in coefficients)
    return above / below


def _polynomial(coefficients: Sequence[float], at: Floats) -> Floats:
    value = np.full_like(at, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= at
        value += coefficient
    return value


def normal_scores(codes: NDArray[np.integer], size: int) -> Floats:
    """Return the normal score of the mean rank of each code: Φ⁻¹((r − ½) / n) for ranks 1 to n (van der Waerden).

    ``codes``: codes in the order of the values. ``size``: the number of different codes. Unused codes have no meaning.

    >>> normal_scores(np.array([0, 1, 1, 2]), 3).round(3).tolist()
    [-1.15, 0.0, 1.15]
    """
    counts = np.bincount(codes, minlength=size)
    middle = np.cumsum(counts) - counts / 2
    return quantile(np.clip(middle / max(len(codes), 1), 1e-12, 1 - 1e-12))
