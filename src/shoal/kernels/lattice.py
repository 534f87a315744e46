"""All schemes of a lattice, by roll-up: the classes of a scheme are made of those of a scheme that is one level finer.

A scheme puts every column on a level of its hierarchy. Rows are keys of bit fields, one for each column, in ascending
order. Nodes are numbered such that they ascend where the nodes below them do. So a coarser last column keeps the order,
a coarser other one mixes only rows that agree in the columns before it, and one pass forms the classes on all levels
of the last column.
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
    """The schemes of some columns. ``steps[j][l][node]``: the node on level l + 1 of a node of column j on level l.

    ``sizes[j][l]``: how many nodes there are. ``values``: how many sensitive values there are, 0 if none is looked at.
    ``offsets``: where the nodes of each column begin, if those of all stand side by side; at the end, their number.
    Schemes are numbered; those that differ in the last column are neighbours.
    """

    steps: tuple[tuple[NDArray[np.uint32], ...], ...]
    sizes: tuple[tuple[int, ...], ...]
    values: int = 0
    offsets: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ends = np.cumsum([sizes[0] for sizes in self.sizes])
        object.__setattr__(self, "offsets", np.concatenate([[0], ends]))  # now: threads share the place where it lies

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many levels each column has."""
        return tuple(len(sizes) for sizes in self.sizes)

    @property
    def schemes(self) -> int:
        """How many schemes there are."""
        return prod(self.shape)

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """How many bits the field of each column takes and, at the end, that of the sensitive value, if any."""
        fields = [sizes[0] - 1 for sizes in self.sizes]
        return tuple(most.bit_length() for most in [*fields, max(self.values - 1, min(self.values, 1))])

    @cached_property
    def shifts(self) -> tuple[int, ...]:
        """Where the field of each column begins."""
        return tuple(sum(self.bits[column + 1 :]) for column in range(len(self.sizes)))

    @property
    def fits(self) -> bool:
        """Whether a row is one key, and the core has room for the columns and levels."""
        few = len(self.sizes) <= MOST_COLUMNS and max(self.shape) <= MOST_LEVELS
        return sum(self.bits) <= MOST_BITS and few

    @property
    def width(self) -> int:
        """How many nodes all columns have on their lowest level."""
        return int(self.offsets[-1])

    def levels(self, schemes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the level of each column in each of some schemes."""
        levels: NDArray[np.int64] = schemes[:, None] // self._strides % np.array(self.shape)
        return levels

    @cached_property
    def _strides(self) -> NDArray[np.int64]:
        """By how much the number of a scheme grows with the level of each column."""
        return np.cumprod([1, *self.shape[:0:-1]])[::-1]

    def rows(
        self,
        columns: Sequence[Codes],
        persons: NDArray[np.int64],
        records: NDArray[np.int64],
        values: Codes | None = None,
        chosen: NDArray[np.bool_] | None = None,
    ) -> Rows:
        """Return the rows of a table whose columns hold nodes of the lowest level, sorted, equal ones put together.

        ``chosen``: which ones, if not all.
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
        """Return the node of each column in some keys."""
        return [
            (keys >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
            for shift, bits in zip(self.shifts, self.bits, strict=False)
        ]

    def totals(self, rows: Rows) -> Totals:
        """Return how many records have each node of each column on each level."""
        records = rows["records"].astype(np.float64)
        fields = zip(self.fields(rows["key"]), self.sizes, strict=True)
        return self.raised([np.bincount(nodes.view(np.int64), records, sizes[0]) for nodes, sizes in fields])

    def raised(self, lowest: Sequence[NDArray[Any]]) -> Totals:
        """Return the same, given the records of each node of each column on its lowest level."""
        raised = []
        for counts, steps, sizes in zip(lowest, self.steps, self.sizes, strict=True):
            levels = [counts]
            for step, size in zip(steps, sizes[1:], strict=True):
                levels.append(np.bincount(step, levels[-1], size))
            raised.append(tuple(level.astype(np.uint32) for level in levels))
        return tuple(raised)


@dataclass(frozen=True, slots=True, eq=False)
class Tallies:
    """Counts of the classes of some schemes, sorted into bands by their size.

    ``figures[i, b]``: of scheme ``schemes[i]`` and band b, one number for each of ``FIGURES``; ``squares``: Σ of the
    squared sizes in records. ``marginals[i, b, node]``: how many records
    of band b have a node; not for the last band, which has the rest.
    """

    schemes: NDArray[np.int64]
    figures: NDArray[np.uint64]
    marginals: NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class ClassListing:
    """The classes of some schemes, one after another: class c is one of scheme ``schemes[of_class[c]]``.

    ``keys[c]``: its nodes. ``sizes``: in persons. The sensitive values in class c are
    ``codes[starts[c] : starts[c + 1]]``, ascending, each with a count.
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
        """Put listings of different schemes together."""
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
