"""Changes: the individual operations of a treatment on columns and records."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes
from shoal.recoding.nodes import Ints, Nodes
from shoal.table.column import Column

RowMask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Generalised:
    """Generalisation of a quasi-identifier: row r is released as the set ``shown[r]`` of ``nodes``.

    ``levels[r]``: the level of that set in the hierarchy; None if the sets do not correspond to levels. ``level``: the
    common level of all rows, if there is one.
    """

    nodes: Nodes
    shown: Ints
    levels: Ints | None = None
    level: int | None = None

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.nodes.domain.column.name


@dataclass(frozen=True, slots=True, eq=False)
class Replaced:
    """Replacement of a quasi-identifier by representative values: row r shows the value ``codes[r]`` of ``column``."""

    column: Column
    codes: Codes

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Random replacement of the cells of any column, record by record.

    ``draw`` maps codes of the original and random words to codes of ``column``. Each record has a random word of its
    own, or each person and value, if the subject of the records is known. The word depends on a secret key and on the
    record, not on the order of the records. ``stream``: columns with the same stream share the words of a person;
    by default, each column has its own. ``salt``: the options on which the random numbers depend, so that two
    releases with different options do not have the same. ``facts``: figures on the draw for its owner.
    """

    column: Column
    draw: Callable[[Codes, Words], Codes]
    stream: str | None = None
    salt: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name


@dataclass(frozen=True, slots=True, eq=False)
class Coarsened:
    """Generalisation of a column beside the quasi-identifiers: the code c of the original shows ``codes[c]``."""

    column: Column
    codes: Codes

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name


@dataclass(frozen=True, slots=True, eq=False)
class Suppressed:
    """Suppression of the records of some ``rows``, which belong to ``persons`` persons."""

    rows: RowMask
    persons: int


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """Relocation: the records of some ``rows`` show the values of another class instead of their own."""

    rows: RowMask


@dataclass(frozen=True, slots=True, eq=False)
class Added:
    """Counterfeit records, one for each entry of ``rows``, with the quasi-identifier values of that row."""

    rows: Ints


Change: TypeAlias = Generalised | Replaced | Drawn | Coarsened | Suppressed | Moved | Added
