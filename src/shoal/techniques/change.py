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


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Some ``columns`` go out in a table of their own, so that nobody can tell which of their cells are whose.

    Both tables show the column ``link``: the number of a group of records. Row r is in group ``groups[r]``; all rows of
    a group show the same quasi-identifiers. The numbers of groups are permuted under the key. ``table``: what the
    second table is called, after the first.
    """

    table: str
    columns: tuple[str, ...]
    link: str
    groups: Ints


Change: TypeAlias = Generalised | Replaced | Drawn | Suppressed | Moved | Added | Split
