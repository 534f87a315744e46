"""All schemes of a lattice, by roll-up: the classes of a scheme are formed from those of a scheme one level lower.

A scheme assigns to every column a level of its hierarchy. Rows are keys of bit fields, one field per column, in
ascending order. Nodes are numbered so that their order follows the order of the nodes below them. Generalising the last
column therefore preserves the order of the rows, generalising another column permutes only rows that agree in the
columns before it, and a single pass forms the classes on all levels of the last column.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.packing import pack
from shoal.kernels.translation import Codes

MOST_BITS = 63
MOST_COLUMNS = MOST_LEVELS = 64
ROW = np.dtype([("key", np.uint64), ("persons", np.uint32), ("records", np.uint32)])
FIGURES = ("classes", "persons", "records", "squares")

Rows = NDArray[np.void]
Totals: TypeAlias = tuple[tuple[NDArray[np.uint32], ...], ...]


@dataclass(frozen=True, eq=False)
class Lattice:
    """The schemes of several columns.

    ``steps[j][l][node]``: the parent, on level l + 1, of a node of column j on level l. ``sizes[j][l]``: the number of
    nodes of column j on level l. ``values``: the number of sensitive values, 0 if there is no sensitive column.
    ``offsets``: the first node of each column if the nodes of all columns are concatenated, followed by the total
    number of nodes. Schemes are numbered; those that differ only in the last column are adjacent.
    """

    steps: tuple[tuple[NDArray[np.uint32], ...], ...]
    sizes: tuple[tuple[int, ...], ...]
    values: int = 0
    offsets: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ends = np.cumsum([sizes[0] for sizes in self.sizes])
        object.__setattr__(self, "offsets", np.concatenate([[0], ends]))  # eager: threads share its address

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of levels per column."""
        return tuple(len(sizes) for sizes in self.sizes)

    @property
    def schemes(self) -> int:
        """The number of schemes."""
        return prod(self.shape)

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """The width in bits of the field of each column, followed by that of the sensitive value (0 without one)."""
        fields = [sizes[0] - 1 for sizes in self.sizes]
        return tuple(most.bit_length() for most in [*fields, max(self.values - 1, min(self.values, 1))])

    @cached_property
    def shifts(self) -> tuple[int, ...]:
        """The position of the lowest bit of the field of each column."""
        return tuple(sum(self.bits[column + 1 :]) for column in range(len(self.sizes)))

    @property
    def fits(self) -> bool:
        """Whether a row fits into one key, and columns and levels are within the limits of the C core."""
        few = len(self.sizes) <= MOST_COLUMNS and max(self.shape) <= MOST_LEVELS
        return sum(self.bits) <= MOST_BITS and few

    @property
    def width(self) -> int:
        """The total number of nodes of all columns on their lowest levels."""
        return int(self.offsets[-1])

    def levels(self, schemes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the level of each column in each scheme."""
        levels: NDArray[np.int64] = schemes[:, None] // self._strides % np.array(self.shape)
        return levels

    @cached_property
    def _strides(self) -> NDArray[np.int64]:
        """The increment of a scheme's number per level of each column."""
        return np.cumprod([1, *self.shape[:0:-1]])[::-1]

    def rows(
        self,
        columns: Sequence[Codes],
        persons: NDArray[np.int64],
        records: NDArray[np.int64],
        values: Codes | None = None,
        chosen: NDArray[np.bool_] | None = None,
    ) -> Rows:
        """Return the sorted distinct rows of a table whose columns contain nodes of the lowest level.

        ``chosen``: a mask of the rows to include; all by default.
        """
        read = list(columns) if values is None else [*columns, values]
        keys = pack(read, [1 << bits for bits in self.bits[: len(read)]])
        order = np.argsort(keys)
        if chosen is not None and not chosen.all():
            order = order[chosen[order]]
        keys = keys[order]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
        rows = np.empty(len(starts), ROW)
        rows["key"] = keys[starts]
        for name, counts in (("persons", persons), ("records", records)):
            rows[name] = np.add.reduceat(counts[order], starts) if len(starts) < len(keys) else counts[order]
        return rows

    def fields(self, keys: NDArray[np.uint64]) -> list[NDArray[np.uint64]]:
        """Return, per column, the node in each key."""
        return [
            (keys >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
            for shift, bits in zip(self.shifts, self.bits, strict=False)
        ]

    def totals(self, rows: Rows) -> Totals:
        """Return the number of records of each node, per column and level."""
        records = rows["records"].astype(np.float64)
        fields = zip(self.fields(rows["key"]), self.sizes, strict=True)
        return self.raised([np.bincount(nodes.view(np.int64), records, sizes[0]) for nodes, sizes in fields])

    def raised(self, lowest: Sequence[NDArray[Any]]) -> Totals:
        """Return the number of records of each node, per column and level, given those of the lowest levels."""
        raised = []
        for counts, steps, sizes in zip(lowest, self.steps, self.sizes, strict=True):
            levels = [counts]
            for step, size in zip(steps, sizes[1:], strict=True):
                levels.append(np.bincount(step, levels[-1], size))
            raised.append(tuple(level.astype(np.uint32) for level in levels))
        return tuple(raised)


@dataclass(frozen=True, slots=True, eq=False)
class Tallies:
    """Counts of the classes of several schemes, in bands of class size.

    ``figures[i, b]``: the numbers named in ``FIGURES`` for scheme ``schemes[i]`` and band b; ``squares`` is the sum of
    the squared class sizes in records. ``marginals[i, b, node]``: the number of records of band b in a node, for all
    bands but the last.
    """

    schemes: NDArray[np.int64]
    figures: NDArray[np.uint64]
    marginals: NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class ClassListing:
    """The classes of several schemes, concatenated: class c belongs to scheme ``schemes[of_class[c]]``.

    ``keys[c]``: the nodes of class c. ``sizes``: the class sizes in persons. The sensitive values in class c are
    ``codes[starts[c] : starts[c + 1]]``, in ascending order, each with its count.
    """

    schemes: NDArray[np.int64]
    of_class: NDArray[np.int64]
    keys: NDArray[np.uint64]
    sizes: NDArray[np.uint32]
    records: NDArray[np.uint32]
    starts: NDArray[np.int64]
    codes: NDArray[np.uint32]
    counts: NDArray[np.uint32]

    @classmethod
    def joined(cls, parts: Sequence["ClassListing"]) -> "ClassListing":
        """Concatenate the listings of different schemes."""
        if len(parts) == 1:
            return parts[0]
        schemes = np.cumsum([0, *(len(part.schemes) for part in parts)])
        entries = np.cumsum([0, *(len(part.codes) for part in parts)])
        of_class = [part.of_class + before for part, before in zip(parts, schemes, strict=False)]
        starts = [part.starts[:-1] + before for part, before in zip(parts, entries, strict=False)]
        names = ("keys", "sizes", "records", "codes", "counts")
        rest = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(
            np.concatenate([part.schemes for part in parts]),
            np.concatenate(of_class),
            starts=np.concatenate([*starts, entries[-1:]]),
            **rest,
        )
