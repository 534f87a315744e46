"""Nodes: the sets of original values that the cells of a released column stand for."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.hierarchy import Hierarchy
from shoal.hierarchy.labels import read_range
from shoal.table.column import SUPPRESSED, Column
from shoal.table.kind import Kind
from shoal.table.scale import scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Fate(IntEnum):
    """What became of a cell.

    ``KEPT``: it shows its value. ``COARSER``: it shows a set that its value is in. ``SUPPRESSED``: it shows nothing.
    ``CHANGED``: it shows something else, so that nothing true is left; measures of loss count it like suppressed.
    """

    KEPT = 0
    COARSER = 1
    SUPPRESSED = 2
    CHANGED = 3


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """What the values of a column could be, against which sets of them are measured.

    ``leaves[code]``: the leaf of each code, and ``size`` how many leaves there are; more than codes where a hierarchy
    knows values that the data do not hold. ``positions[code]``: numbers and days on their scale, NaN for others.
    """

    column: Column
    hierarchy: Hierarchy | None
    leaves: NDArray[np.uint32]
    size: int
    positions: Floats | None

    @classmethod
    def of(cls, column: Column, hierarchy: Hierarchy | None = None) -> "Domain":
        """Take the leaves of the hierarchy or, without one, the values of the column."""
        leaves = np.arange(column.size, dtype=np.uint32) if hierarchy is None else hierarchy.leaves
        size = column.size if hierarchy is None else len(hierarchy.levels[0].nodes)
        return cls(column, hierarchy, leaves, size, scale(column))

    @property
    def codes(self) -> int:
        """How many codes the column has."""
        return self.column.size

    @property
    def shares(self) -> Floats:
        """The share that each code has of its leaf: less than 1 where several codes are one leaf."""
        shares: Floats = 1 / np.bincount(self.leaves, minlength=self.size)[self.leaves]
        return shares

    @property
    def height(self) -> int | None:
        """The number of the hierarchy's last level."""
        return None if self.hierarchy is None else self.hierarchy.height

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest value; NaN where there is no scale."""
        known = np.zeros(0) if self.positions is None else self.positions[~np.isnan(self.positions)]
        return (float(known.min()), float(known.max())) if len(known) else (np.nan, np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A set of codes, ascending, and how it is written.

    ``leaves``: how many values it could stand for; counted from its codes if not given. ``ends``: the interval that it
    states; that of its values if not given. ``level``: of the hierarchy, if it is one of its nodes.
    """

    label: str | None
    fate: Fate
    codes: NDArray[np.uint32]
    leaves: int | None = None
    ends: tuple[float, float] | None = None
    level: int | None = None

    @classmethod
    def everything(cls, domain: Domain, fate: Fate = Fate.SUPPRESSED, number: float | None = None) -> "Node":
        """Return the set of all values: what a cell stands for that shows nothing, or an untrue number."""
        ends = domain.ends if number is None else (number, number)
        every = np.arange(domain.codes, dtype=np.uint32)
        return cls(SUPPRESSED, fate, every, domain.size, ends, domain.height)


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Sets of codes: set i is ``codes[starts[i] : starts[i + 1]]``, ascending.

    The first ones are the single codes, as they are; ``labels`` says how the others are written. ``leaves[i]``: how
    many values set i could stand for. ``levels[i]``: its level in the hierarchy, −1 without one. ``low``, ``high``: the
    interval it states, NaN where there is no scale.
    """

    domain: Domain
    labels: tuple[str | None, ...]
    fates: NDArray[np.uint8]
    starts: Ints
    codes: NDArray[np.uint32]
    leaves: Ints
    levels: Ints
    low: Floats
    high: Floats

    @classmethod
    def of(cls, domain: Domain, more: Sequence[Node]) -> "Nodes":
        """Put sets of several codes after the single ones, and measure what they do not say about themselves."""
        single = domain.codes
        lengths = np.ones(single + len(more), np.int64)
        lengths[single:] = [len(node.codes) for node in more]
        ends = np.array([_ends(domain, node) for node in more], np.float64).reshape(-1, 2)
        positions = np.full(single, np.nan) if domain.positions is None else domain.positions
        return cls(
            domain,
            tuple(node.label for node in more),
            np.concatenate([np.zeros(single, np.uint8), np.array([node.fate for node in more], np.uint8)]),
            np.concatenate([[0], np.cumsum(lengths)]),
            np.concatenate([np.arange(single, dtype=np.uint32), *(node.codes for node in more)]),
            np.concatenate([np.ones(single, np.int64), np.array([_leaves(domain, node) for node in more], np.int64)]),
            np.concatenate([np.full(single, -1 if domain.hierarchy is None else 0), _levels(domain, more)]),
            np.concatenate([positions, ends[:, 0]]),
            np.concatenate([positions, ends[:, 1]]),
        )

    @classmethod
    def on_level(cls, domain: Domain, hierarchy: Hierarchy, level: int) -> tuple["Nodes", Ints]:
        """Return the nodes of a hierarchy's level and which of them each code is in; the last one is everything."""
        of_code, held = hierarchy.nodes(level).astype(np.int64), hierarchy.levels[level]
        hidden = np.array([label == SUPPRESSED for label in held.labels])
        whole = Node.everything(domain)
        if level == 0:
            nodes = cls.of(domain, [whole])
            return nodes, np.where(hidden[of_code], len(nodes) - 1, np.arange(domain.codes))
        order = np.argsort(of_code, kind="stable").astype(np.uint32)
        cuts = np.searchsorted(of_code[order], np.arange(len(held) + 1))
        made = [
            Node(label, Fate.COARSER, order[start:end], int(leaves), level=level)
            for label, start, end, leaves in zip(held.labels, cuts, cuts[1:], held.leaf_counts(), strict=False)
        ]
        nodes = cls.of(domain, [*made, whole])
        return nodes, np.where(hidden[of_code], len(nodes) - 1, domain.codes + of_code)

    def __len__(self) -> int:
        return len(self.fates)

    @property
    def sizes(self) -> Ints:
        """How many codes each set has."""
        return np.diff(self.starts)

    @property
    def midpoints(self) -> Floats:
        """The number in the middle of each interval."""
        return (self.low + self.high) / 2

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Which nodes say nothing true."""
        return self.fates >= Fate.SUPPRESSED

    def members(self, node: int) -> NDArray[np.uint32]:
        """Return the codes of a set."""
        return self.codes[self.starts[node] : self.starts[node + 1]]


def _leaves(domain: Domain, node: Node) -> int:
    if node.leaves is not None:
        return node.leaves
    return len(node.codes) if domain.hierarchy is None else len(np.unique(domain.leaves[node.codes]))


def _levels(domain: Domain, nodes: Sequence[Node]) -> Ints:
    return np.array([_level(domain, node) for node in nodes], np.int64)


def _level(domain: Domain, node: Node) -> int:
    """Return the level of a node; of a set that the hierarchy does not have, the lowest on which it is one."""
    if domain.hierarchy is None:
        return -1
    if node.level is not None:
        return node.level
    levels = range(domain.hierarchy.height + 1)
    return next(level for level in levels if len(np.unique(domain.hierarchy.nodes(level)[node.codes])) <= 1)


def _ends(domain: Domain, node: Node) -> tuple[float, float]:
    """Return the interval that a node states; where it states none, the smallest and the largest of its values."""
    stated = None if node.level is None else interval(domain, node.label)
    if node.ends is not None or stated is not None:
        return node.ends or stated or (np.nan, np.nan)
    known = np.zeros(0) if domain.positions is None else domain.positions[node.codes]
    known = known[~np.isnan(known)]
    return (float(known.min()), float(known.max())) if len(known) else (np.nan, np.nan)


def interval(domain: Domain, label: str | None) -> tuple[float, float] | None:
    """Return the least and the greatest number of the interval that a label states; where it has no end, the data's.

    >>> import shoal
    >>> domain = Domain.of(shoal.read({"age": [3, 25, 97]})["age"])
    >>> interval(domain, "[20, 30)"), interval(domain, "90+"), interval(domain, "old")
    ((20.0, 29.0), (90.0, 97.0), None)
    """
    stated = read_range(label) if label is not None and domain.column.kind.numeric else None
    if stated is None:
        return None
    least, most = domain.ends
    low = least if stated.low is None else float(stated.low)
    high = most if stated.high is None else float(stated.high)
    if domain.column.kind is Kind.INTEGER:  # among whole numbers [20, 30) ends with 29
        low = low if stated.low_closed else float(np.floor(low) + 1)
        high = high if stated.high_closed else float(np.ceil(high) - 1)
    return (low, high) if low <= high else (high, low)
