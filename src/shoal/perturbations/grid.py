"""Grids: multiples of a power of ten, on which released numbers lie, so that they have no more digits than before."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.table.column import Column
from shoal.table.kind import Kind

Floats = NDArray[np.float64]
Steps = NDArray[np.int64]
_DECIMALS = 9  # most decimal places that are told apart
_EXACT = 2.0**53


@dataclass(frozen=True, slots=True)
class Grid:
    """The multiples of 10 to the power of ``exponent``."""

    exponent: int = 0

    @classmethod
    def of(cls, column: Column, places: Floats) -> "Grid | None":
        """Return the coarsest grid down to units, or else of decimals, with all values; None if there is none.

        >>> import shoal
        >>> table = shoal.read({"weight": [70.25, 81.5], "age": [30, 40]})
        >>> [Grid.of(table[name], table[name].values.to_numpy()).exponent for name in ("weight", "age")]
        [-2, 0]
        """
        if column.kind is not Kind.NUMBER:
            return cls()
        finite = places[np.isfinite(places)]
        for decimals in range(_DECIMALS + 1):
            scaled = finite * 10.0**decimals
            if np.abs(scaled).max(initial=0) > _EXACT:
                return None
            if (np.rint(scaled) / 10.0**decimals == finite).all():
                return cls(-decimals)
        return None

    @classmethod
    def finer_than(cls, distance: float) -> "Grid":
        """Return the coarsest grid whose step is at most a distance.

        >>> Grid.finer_than(0.05).exponent, Grid.finer_than(100).exponent
        (-2, 2)
        """
        return cls(int(np.floor(np.log10(distance) + 1e-12)))

    @property
    def step(self) -> float:
        """The distance between neighbours."""
        return 10.0**self.exponent if self.exponent >= 0 else 1 / 10.0**-self.exponent

    def steps(self, places: Floats) -> Steps:
        """Return the nearest multiple of each position, halves to even."""
        scaled = places * 10.0**-self.exponent if self.exponent < 0 else places / 10.0**self.exponent
        return np.rint(scaled).astype(np.int64)

    def positions(self, steps: Steps) -> Floats:
        """Return the position of each multiple: the number with the shortest decimal notation."""
        return np.asarray(steps * 10.0**self.exponent if self.exponent >= 0 else steps / 10.0**-self.exponent)

    def coarser(self) -> "Grid":
        """Return the grid with ten times the distance."""
        return Grid(self.exponent + 1)

    def column(self, column: Column, steps: Steps) -> Column:
        """Return a column with other values: the multiples in ascending order."""
        if column.kind is Kind.NUMBER:
            values = pa.array(self.positions(steps))
        else:
            whole = pa.array(steps * 10**self.exponent)
            values = whole.cast(pa.int32()).cast(column.values.type) if column.kind is Kind.DATE else whole
        return replace(column, values=values)
