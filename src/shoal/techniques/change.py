"""Changes: what a treatment does to columns and records, each for itself."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes
from shoal.recoding.nodes import Ints, Nodes
from shoal.table.column import Column

RowMask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Generalised:
    """A quasi-identifier shows sets of values: row r the set ``shown[r]`` of ``nodes``.

    ``levels[r]``: the level of that set in the hierarchy; None where sets are on none. ``level``: that of all rows, if
    it is the same.
    """

    nodes: Nodes
    shown: Ints
    levels: Ints | None = None
    level: int | None = None

    @property
    def name(self) -> str:
        """The column."""
        return self.nodes.domain.column.name


@dataclass(frozen=True, slots=True, eq=False)
class Replaced:
    """A quasi-identifier shows values that stand for others: row r the value ``codes[r]`` of ``column``."""

    column: Column
    codes: Codes

    @property
    def name(self) -> str:
        """The column."""
        return self.column.name


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Cells of any column are drawn, record by record: ``draw`` takes codes of the original and random numbers.

    ``column``: what the codes that it returns stand for. Every record gets a number of its own, or every person, if it
    is known whose records are whose; it hangs on a secret key and on the record, not on the order of records.
    """

    column: Column
    draw: Callable[[Codes, Words], Codes]

    @property
    def name(self) -> str:
        """The column."""
        return self.column.name


@dataclass(frozen=True, slots=True, eq=False)
class Suppressed:
    """Records of some ``rows`` are left out, of so many ``persons``."""

    rows: RowMask
    persons: int


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """Records of some ``rows`` show what others are, and not what they are."""

    rows: RowMask


@dataclass(frozen=True, slots=True, eq=False)
class Added:
    """Records are invented, one for each of some ``rows``, which they look like."""

    rows: Ints


Change: TypeAlias = Generalised | Replaced | Drawn | Suppressed | Moved | Added
