"""Units: what a recoding may not divide."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows
from shoal.search.objective import Ints

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What a recoding may not divide: unit u is among row ``of_row[u]`` of ``rows`` and stands for ``persons[u]``.

    ``judged[u]``: which of the jury's rows it is of.
    """

    rows: DistinctRows
    of_row: Rows
    judged: Rows
    persons: Ints

    def __len__(self) -> int:
        return len(self.persons)
