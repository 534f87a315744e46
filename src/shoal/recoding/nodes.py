"""Nodes: the sets of original values that released cells stand for."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.hierarchy import Hierarchy
from shoal.hierarchy.labels import read_range
from shoal.table.column import SUPPRESSED, Column
from shoal.table.kind import Kind
from shoal.table.scale import scale

Number = TypeVar("Number", bound=np.generic)
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Fate(IntEnum):
    """Outcome of a cell.

    ``KEPT``: the cell shows its value. ``COARSER``: it shows a set that contains its value. ``SUPPRESSED``: it is
    suppressed. ``CHANGED``: it shows another value, or a set without its value, and contains no true information.
    Measures of information loss count it as suppressed.
    """

    KEPT = 0
    COARSER = 1
    SUPPRESSED = 2
    CHANGED = 3


@dataclass(frozen=True, eq=False)
class Domain:
    """Domain of a column: the possible values, relative to which the size of sets is measured.

    ``leaves[code]``: the leaf of each code. ``size``: the number of leaves. It exceeds the number of codes if the
    hierarchy contains values that do not occur in the data.
    """

    column: Column
    hierarchy: Hierarchy | None
    leaves: NDArray[np.uint32]
    size: int

    @classmethod
    def of(cls, column: Column, hierarchy: Hierarchy | None = None) -> "Domain":
        """Return the domain given by the leaves of the hierarchy or, without one, by the values of the column."""
        leaves = np.arange(column.size, dtype=np.uint32) if hierarchy is None else hierarchy.leaves
        size = column.size if hierarchy is None else len(hierarchy.levels[0].nodes)
        return cls(column, hierarchy, leaves, size)

    @cached_property
    def positions(self) -> Floats | None:
        """The position of each code on the scale of numbers or days; NaN for missing values, None without a scale."""
        return scale(self.column)

    @property
    def codes(self) -> int:
        """The number of codes of the column."""
        return self.column.size

    @cached_property
    def hidden(self) -> NDArray[np.bool_]:
        """Whether each code is suppressed on every level of the hierarchy, and must never be shown."""
        labels = [None] * self.codes if self.hierarchy is None else self.hierarchy.labels(0).to_pylist()
        return np.array([label == SUPPRESSED for label in labels], bool)

    @property
    def shares(self) -> Floats:
        """The share of each code in its leaf: less than 1 where several codes share a leaf."""
        shares: Floats = 1 / np.bincount(self.leaves, minlength=self.size)[self.leaves]
        return shares

    @property
    def height(self) -> int | None:
        """The highest level of the hierarchy; None without a hierarchy."""
        return None if self.hierarchy is None else self.hierarchy.height

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest value; NaN without a scale."""
        known = np.zeros(0) if self.positions is None else self.positions[~np.isnan(self.positions)]
        return (float(known.min()), float(known.max())) if len(known) else (np.nan, np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A set of codes, ascending, with its label.

    ``leaves``: the number of values that the set may stand for; counted from its codes by default. ``ends``: the
    interval that the label states; that of the values by default. ``level``: the level in the hierarchy, if the set is
    one of its nodes.
    """

    label: str | None
    fate: Fate
    codes: NDArray[np.uint32]
    leaves: int | None = None
    ends: tuple[float, float] | None = None
    level: int | None = None

    @classmethod
    def everything(cls, domain: Domain, fate: Fate = Fate.SUPPRESSED, number: float | None = None) -> "Node":
        """Return the set of all values, for a cell that is suppressed or shows an untrue number."""
        ends = None if number is None else (number, number)
        every = np.arange(domain.codes, dtype=np.uint32)
        return cls(SUPPRESSED, fate, every, domain.size, ends, domain.height)


@dataclass(frozen=True, eq=False)
class Nodes(ABC):
    """Sets of codes: set i is ``codes[starts[i] : starts[i + 1]]``, ascending.

    The first sets are the single codes. ``low``, ``high``: the interval that a set states; NaN without a scale.
    Properties are computed on demand.
    """

    domain: Domain

    @staticmethod
    def of(domain: Domain, more: Sequence[Node]) -> "Nodes":
        """Return the single codes followed by further sets.

        Properties that a set does not state are computed from its codes.
        """
        return _Listed(domain, more)

    @property
    @abstractmethod
    def more(self) -> Sequence[Node]:
        """The sets after the single codes."""

    @cached_property
    def labels(self) -> tuple[str | None, ...]:
        """The labels of the sets after the single codes."""
        return tuple(node.label for node in self.more)

    @cached_property
    def fates(self) -> NDArray[np.uint8]:
        """The outcome of cells that show each set."""
        return self._after(np.zeros(self.domain.codes, np.uint8), [node.fate for node in self.more])

    @cached_property
    def starts(self) -> Ints:
        """The position in ``codes`` at which each set begins."""
        lengths = self._after(np.ones(self.domain.codes, np.int64), [len(node.codes) for node in self.more])
        return np.concatenate([[0], np.cumsum(lengths)])

    @cached_property
    def codes(self) -> NDArray[np.uint32]:
        """The concatenated codes of all sets."""
        return np.concatenate([np.arange(self.domain.codes, dtype=np.uint32), *(node.codes for node in self.more)])

    @cached_property
    def leaves(self) -> Ints:
        """The number of values that each set may stand for."""
        stated = self._stated([node.leaves for node in self.more])
        if len(np.unique(self.domain.leaves)) == self.domain.codes:  # every code is a leaf of its own
            return np.where(stated < 0, self.sizes, stated)
        leaves = [_leaves(self.domain, node) for node in self.more]
        return self._after(np.ones(self.domain.codes, np.int64), leaves)

    @cached_property
    def levels(self) -> Ints:
        """The level of each set in the hierarchy; −1 without a hierarchy.

        A set that is not a node of the hierarchy has the lowest level on which one node covers it.
        """
        hierarchy = self.domain.hierarchy
        if hierarchy is None:
            return np.full(len(self), -1, np.int64)
        lowest = np.zeros(len(self), np.int64)
        occurring = np.flatnonzero(self.sizes)
        for level in range(hierarchy.height):  # other sets: the lowest level on which one node covers them
            nodes = hierarchy.nodes(level)[self.codes]
            ends = (extreme.reduceat(nodes, self.starts[occurring]) for extreme in (np.minimum, np.maximum))
            lowest[occurring[np.not_equal(*ends)]] = level + 1
        stated = self._stated([node.level for node in self.more])
        return np.where(stated < 0, lowest, stated)

    def _stated(self, more: Sequence[int | None]) -> Ints:
        """Return the stated property of each set; −1 where none is stated."""
        return self._after(np.full(self.domain.codes, -1, np.int64), [-1 if node is None else node for node in more])

    @staticmethod
    def _after(single: NDArray[Number], more: Sequence[int]) -> NDArray[Number]:
        return np.concatenate([single, np.array(more, single.dtype)])

    @classmethod
    def on_level(cls, domain: Domain, hierarchy: Hierarchy, level: int) -> tuple["Nodes", Ints]:
        """Return the nodes of a level of a hierarchy, and the node of each code. The last node contains all values."""
        nodes, (of_number,) = cls.by_number(domain, hierarchy, [level])
        return nodes, _of_code(hierarchy, level, of_number)

    @classmethod
    def on_levels(cls, domain: Domain, hierarchy: Hierarchy) -> tuple["Nodes", Ints]:
        """Return the nodes of all levels, and the node of each code per level. The last node contains all values."""
        levels = range(hierarchy.height + 1)
        nodes, numbers = cls.by_number(domain, hierarchy, levels)
        return nodes, np.stack([_of_code(hierarchy, level, numbers[level]) for level in levels])

    @staticmethod
    def by_number(domain: Domain, hierarchy: Hierarchy, levels: Sequence[int]) -> tuple["Nodes", list[Ints]]:
        """Return the nodes of some levels and, for each level, the position of each node that the hierarchy numbers.

        On the lowest level, each code is a node of its own; the position is −1 for leaves without a code. A suppressed
        node has the position of the last node, which contains all values.
        """
        nodes, numbers, begin = _OnLevels(domain, hierarchy, levels), list[Ints](), domain.codes
        for level in levels:
            labels = hierarchy.levels[level].labels
            if level == 0:
                of_number = np.full(len(labels), -1)
                of_number[hierarchy.nodes(0)] = np.arange(domain.codes)
            else:
                of_number = np.arange(begin, begin + len(labels))
                begin += len(labels)
            if SUPPRESSED in labels:
                of_number[labels.index(SUPPRESSED)] = len(nodes) - 1
            numbers.append(of_number)
        return nodes, numbers

    def __len__(self) -> int:
        return self.domain.codes + len(self.more)

    @property
    def sizes(self) -> Ints:
        """The number of codes in each set."""
        return np.diff(self.starts)

    @cached_property
    def _ends(self) -> Floats:
        positions = np.full(self.domain.codes, np.nan) if self.domain.positions is None else self.domain.positions
        stated = np.array([_ends(self.domain, node) for node in self.more], np.float64).reshape(-1, 2)
        return np.concatenate([np.stack([positions, positions], axis=1), stated])

    @property
    def low(self) -> Floats:
        """The lower bound of the interval of each set."""
        return self._ends[:, 0]

    @property
    def high(self) -> Floats:
        """The upper bound of the interval of each set."""
        return self._ends[:, 1]

    @property
    def midpoints(self) -> Floats:
        """The midpoint of the interval of each set."""
        return (self.low + self.high) / 2

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Whether each node contains no true information: suppressed or changed."""
        return self.fates >= Fate.SUPPRESSED

    def holding(self, nodes: Ints, codes: NDArray[np.unsignedinteger[Any]]) -> NDArray[np.bool_]:
        """Return whether each of the given nodes contains the corresponding code."""
        size = self.domain.codes
        inside = np.repeat(np.arange(len(self)), self.sizes) * size + self.codes
        return np.isin(nodes.astype(np.int64) * size + codes, inside)

    def members(self, node: int) -> NDArray[np.uint32]:
        """Return the codes of a set."""
        return self.codes[self.starts[node] : self.starts[node + 1]]


@dataclass(frozen=True, eq=False)
class _Listed(Nodes):
    """Sets that are given one by one."""

    stated: Sequence[Node] = field(repr=False)

    @property
    def more(self) -> Sequence[Node]:
        return self.stated


@dataclass(frozen=True, eq=False)
class _OnLevels(Nodes):
    """The nodes of some levels of a hierarchy, and the set of all values. The hierarchy gives their properties."""

    hierarchy: Hierarchy
    chosen: Sequence[int]

    @cached_property
    def more(self) -> Sequence[Node]:
        above = [node for level in self._above for node in _nodes_on(self.hierarchy, level)]
        return [*above, Node.everything(self.domain)]

    @property
    def _above(self) -> list[int]:
        """The chosen levels without the lowest one."""
        return [level for level in self.chosen if level]

    def __len__(self) -> int:
        return self.domain.codes + sum(len(self.hierarchy.levels[level]) for level in self._above) + 1

    @cached_property
    def fates(self) -> NDArray[np.uint8]:
        """The outcome of cells that show each set."""
        single = self.domain.codes
        fates = np.array([Fate.KEPT, Fate.COARSER, Fate.SUPPRESSED], np.uint8)
        return np.repeat(fates, [single, len(self) - single - 1, 1])

    @cached_property
    def leaves(self) -> Ints:
        """The number of values that each set may stand for."""
        above = [self.hierarchy.levels[level].leaf_counts() for level in self._above]
        return np.concatenate([np.ones(self.domain.codes, np.int64), *above, [self.domain.size]])


def _leaves(domain: Domain, node: Node) -> int:
    if node.leaves is not None:
        return node.leaves
    return len(node.codes) if domain.hierarchy is None else len(np.unique(domain.leaves[node.codes]))


def _ends(domain: Domain, node: Node) -> tuple[float, float]:
    """Return the interval that a node states; otherwise the smallest and the largest of its values."""
    stated = None if node.level is None else interval(domain, node.label)
    if node.ends is not None or stated is not None:
        return node.ends or stated or (np.nan, np.nan)
    known = np.zeros(0) if domain.positions is None else domain.positions[node.codes]
    known = known[~np.isnan(known)]
    return (float(known.min()), float(known.max())) if len(known) else (np.nan, np.nan)


def interval(domain: Domain, label: str | None) -> tuple[float, float] | None:
    """Return the bounds of the interval that a label states; an open end is replaced by that of the data.

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
    if domain.column.kind is Kind.INTEGER:  # among integers, [20, 30) ends at 29
        low = low if stated.low_closed else float(np.floor(low) + 1)
        high = high if stated.high_closed else float(np.ceil(high) - 1)
    return (low, high) if low <= high else (high, low)


def _nodes_on(hierarchy: Hierarchy, level: int) -> list[Node]:
    """Return the nodes of a level other than the lowest."""
    of_code, nodes = hierarchy.nodes(level), hierarchy.levels[level]
    order = np.argsort(of_code, kind="stable").astype(np.uint32)
    cuts = np.searchsorted(of_code[order], np.arange(len(nodes) + 1)).tolist()
    return [
        Node(label, Fate.COARSER, order[start:end], leaves, level=level)
        for label, start, end, leaves in zip(nodes.labels, cuts, cuts[1:], nodes.leaf_counts().tolist(), strict=False)
    ]


def _of_code(hierarchy: Hierarchy, level: int, of_number: Ints) -> Ints:
    """Return the set of each code on a level. On the lowest, each code is a set of its own, unless it is hidden."""
    nodes, codes = of_number[hierarchy.nodes(level)], len(hierarchy.leaves)
    return np.where(nodes < codes, np.arange(codes), nodes) if level == 0 else nodes
