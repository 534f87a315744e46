"""Equality of values across two tables and their notations; numbers and days parsed from text."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.table.column import Column, as_text
from shoal.table.kind import Kind
from shoal.table.scale import doubles, scale

Ints = NDArray[np.int64]
_ROUNDED = 1e-12  # relative tolerance for rounding in floating point


def same_values(original: Column, release: Column) -> Ints:
    """Return the original code with the same value for each code of a released column; −1 if there is none.

    Numbers are compared by value, not by notation.

    >>> import shoal
    >>> before, after = shoal.read({"x": [1.0, 2.5]})["x"], shoal.read({"x": ["2.50", "1", "*"]})["x"]
    >>> same_values(before, after).tolist()
    [-1, 0, 1]
    """
    places = np.full(release.size, -1)
    places[: len(release.values)] = _placed(original, release)
    if original.missing_code is not None and release.missing_code is not None:
        places[release.missing_code] = original.missing_code
    if original.suppressed_code is not None and release.suppressed_code is not None:
        places[release.suppressed_code] = original.suppressed_code
    return places


def numbers(texts: pa.Array) -> NDArray[np.float64]:
    """Parse texts as numbers; NaN for other texts."""
    plain = pc.match_substring_regex(texts, r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")
    read: NDArray[np.float64] = pc.if_else(plain, texts, None).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return read


def days(texts: pa.Array) -> NDArray[np.float64]:
    """Parse complete ISO dates as days since 1970; NaN for other texts."""
    plain = pc.if_else(pc.match_substring_regex(texts, r"^\d{4}-\d{2}-\d{2}$"), texts, None)
    read = pc.strptime(plain, format="%Y-%m-%d", unit="s", error_is_null=True)
    days: NDArray[np.float64] = read.cast(pa.int64()).cast(pa.float64()).to_numpy(zero_copy_only=False) / 86_400
    return days


def _placed(original: Column, release: Column) -> Ints:
    """Look up values by their text, then as numbers or points in time."""
    if {original.kind, release.kind} == {Kind.DATE, Kind.DATETIME}:
        return _same_moments(original, release)
    texts = as_text(release.values)
    places = pc.fill_null(pc.index_in(texts, value_set=as_text(original.values)), -1)
    places_of: Ints = places.to_numpy(zero_copy_only=False).astype(np.int64)
    if not original.kind.numeric or (places_of >= 0).all() or original.kind is release.kind is Kind.INTEGER:
        return places_of
    known_numbers = doubles(original.values).to_numpy(zero_copy_only=False)
    sought = numbers(texts)
    after = np.clip(np.searchsorted(known_numbers, sought), 0, max(len(known_numbers) - 1, 0))
    for at in (after, np.maximum(after - 1, 0)) if len(known_numbers) else ():
        same = np.abs(known_numbers[at] - sought) <= (
            0.0 if original.kind is Kind.INTEGER else _ROUNDED * np.abs(sought)
        )
        places_of = np.where((places_of < 0) & same & (np.abs(sought) < 2**53), at, places_of)
    return places_of


def _same_moments(original: Column, release: Column) -> Ints:
    """Look up dates among date-times or the reverse; a date equals its midnight."""
    ours, theirs = scale(original), scale(release)
    if ours is None or theirs is None or not len(original.values):
        return np.full(len(release.values), -1)
    own, sought = ours[: len(original.values)], theirs[: len(release.values)]
    at = np.clip(np.searchsorted(own, sought), 0, len(own) - 1)
    return np.where(own[at] == sought, at, -1)
