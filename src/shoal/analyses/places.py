"""Places: values as numbers, so that records of all kinds of columns can be compared."""

import numpy as np

from shoal.recoding.nodes import Floats
from shoal.table.column import Column
from shoal.table.scale import scale

MISSING = -np.inf  # the place of a missing value


def places_of(column: Column) -> Floats:
    """Return the place of each code of a column: its number, or the code; ``MISSING`` for a missing value."""
    numbers = scale(column)
    places = np.arange(column.size, dtype=np.float64) if numbers is None else numbers.copy()
    if column.missing_code is not None:
        places[column.missing_code] = MISSING
    return np.where(np.isnan(places), MISSING, places)


def as_numbers(places: Floats) -> Floats:
    """Return places as numbers, NaN where a value is missing."""
    return np.where(places == MISSING, np.nan, places)
