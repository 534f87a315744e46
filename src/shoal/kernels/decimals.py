"""Decimals: numbers in decimal notation, and whether a double represents all their digits."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address
from shoal.kernels.ranking import parts

_PLACES = 19
_WRITTEN = rf"^-?((0|[1-9]\d*)(\.\d{{1,{_PLACES}}})?|\.\d{{1,{_PLACES}}})$"
_TOO_MANY = r"[1-9]\d{17}"
_TENS = np.array([10**places for places in range(_PLACES + 1)], np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class Decimals:
    """The doubles nearest to decimals.

    ``faithful``: whether the double, rounded to the same number of decimal places, equals the decimal.
    """

    doubles: NDArray[np.float64]
    faithful: NDArray[np.bool_]


def decimals(values: pa.LargeStringArray) -> Decimals | None:
    """Parse texts as decimals; None if any has a different notation or more than 17 significant digits.

    >>> import pyarrow as pa
    >>> read = decimals(pa.array(["-12.50", "64.00000000000001", "64.00000000000002"], pa.large_string()))
    >>> read.doubles.tolist(), read.faithful.tolist()
    ([-12.5, 64.00000000000001, 64.00000000000001], [True, True, False])
    >>> decimals(pa.array(["007"], pa.large_string())) is None
    True
    """
    native = library.core()
    if native is None:
        return _decimals_numpy(values)
    text, ends = parts(values)
    read = Decimals(np.empty(len(values), np.float64), np.empty(len(values), np.bool_))
    done = native.shoal_decimals(
        address(text),
        address(ends),
        len(values),
        address(_TENS),
        address(read.doubles),
        address(read.faithful),
    )
    return read if done == len(values) else None


def _decimals_numpy(values: pa.LargeStringArray) -> Decimals | None:
    digits = pc.replace_substring(values, ".", "")
    plain = pc.and_not(pc.match_substring_regex(values, _WRITTEN), pc.match_substring_regex(digits, _TOO_MANY))
    if not pc.all(plain, min_count=0).as_py():
        return None
    point = np.asarray(pc.find_substring(values, "."))
    places = np.where(point < 0, 0, np.asarray(pc.binary_length(values)) - point - 1)
    doubles = values.cast(pa.float64()).to_numpy()
    return Decimals(doubles, _faithful(digits.cast(pa.int64()).to_numpy(), places, doubles))


def _faithful(digits: NDArray[np.int64], places: NDArray[np.int64], doubles: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return where ``|m·10^p − d·2^s| < 2^s / 2``, in integers of arbitrary size; the double is ``m·2^-s``."""
    fraction, exponent = np.frexp(doubles)
    mantissa, scale = (fraction * 2.0**53).astype(np.int64), 53 - exponent.astype(np.int64)
    within = (places > 0) & (scale > 0)
    fits = np.where(places == 0, np.abs(digits) <= 2**53, digits == 0)
    two = 2 ** scale[within].astype(object)
    error = mantissa[within] * 10 ** places[within].astype(object) - digits[within] * two
    fits[within] = 2 * np.abs(error) < two
    return fits
