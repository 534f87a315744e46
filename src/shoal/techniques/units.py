"""Units: the smallest groups of records that a recoding must not divide."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows
from shoal.search.objective import Ints

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The smallest groups of records that a recoding must not divide.

    Unit u belongs to row ``of_row[u]`` of ``rows`` and stands for ``persons[u]`` persons. ``judged[u]``: its row in the
    jury.
    """

    rows: DistinctRows
    of_row: Rows
    judged: Rows
    persons: Ints

    def __len__(self) -> int:
        return len(self.persons)
