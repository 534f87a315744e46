"""Axes: quasi-identifiers as ordered values with cut points and labels for ranges, as a partition uses them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes
from shoal.recoding.nodes import Domain, Fate, Floats, Ints, Node, Nodes
from shoal.search.ladder import Ladder
from shoal.search.space import Space
from shoal.table.kind import Kind

Ids = NDArray[np.uint32]


class Axis(ABC):
    """One quasi-identifier with its values in order.

    ``domain``: the values and what is known about them. ``places[code]``: the position of a value in that order.
    A range of values extends from one place to another.
    ``maps``: the possible groupings of places, between whose groups a range can be cut.
    """

    domain: Domain
    places: Ids
    maps: tuple[Ids, ...]

    @abstractmethod
    def widths(self, low: Ids, high: Ids) -> Floats:
        """Return the share of the domain that each range covers, from 0 to 1."""

    @abstractmethod
    def groups(self, low: Ids, high: Ids) -> Ints:
        """Return, for each range, the index in ``maps`` of the groups (by place) that a cut must not divide."""

    @abstractmethod
    def cells(self, low: Ids, high: Ids, of_row: NDArray[np.intp], codes: Codes) -> tuple[Nodes, Ints]:
        """Return the released sets of values, and the set of each row.

        Row r has the value ``codes[r]`` and belongs to the range ``of_row[r]``.
        """


@dataclass(frozen=True, eq=False)
class TreeAxis(Axis):
    """Values in the order of a hierarchy.

    A range is cut between nodes and released as the lowest node that covers it.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> from shoal.hierarchy.explicit import Explicit
    >>> table = shoal.read({"x": ["cat", "cow", "dog"]})
    >>> kinds = bind(Explicit(values={"cat": ["pet"], "cow": ["farm"], "dog": ["pet"]}), table, "x")
    >>> axis = TreeAxis(Domain.of(table["x"], kinds), Ladder.of(kinds))
    >>> low, high = np.array([0, 0, 1], np.uint32), np.array([1, 2, 1], np.uint32)
    >>> axis.levels(low, high).tolist(), axis.widths(low, high).round(2).tolist(), axis.groups(low, high).tolist()
    ([1, 2, 0], [0.67, 1.0, 0.0], [0, 1, 0])
    """

    domain: Domain
    ladder: Ladder

    @property
    def places(self) -> Ids:  # type: ignore[override]
        """The position of each code."""
        return self.ladder.places

    @cached_property
    def maps(self) -> tuple[Ids, ...]:  # type: ignore[override]
        """The node of each place, per level."""
        return self.ladder.maps()

    def _rungs(self, low: Ids, high: Ids) -> Ints:
        """Return the lowest level of the ladder on which each range is a single node."""
        rungs: Ints = np.sum([nodes[low] != nodes[high] for nodes in self.maps], axis=0).astype(np.int64)
        return rungs

    def levels(self, low: Ids, high: Ids) -> Ints:
        """Return the lowest level of the hierarchy on which each range is a single node."""
        return self._rungs(low, high) + self.ladder.low

    @cached_property
    def _shares(self) -> Floats:
        """The share of all leaves that the node of a place covers, as ``[level, place]``; 0 for a single leaf."""
        levels = self.ladder.hierarchy.levels
        covered = [
            levels[self.ladder.low + rung].leaf_counts()[numbers[nodes]]
            for rung, (numbers, nodes) in enumerate(zip(self.ladder.numbers, self.maps, strict=True))
        ]
        sizes = np.stack(covered).astype(np.float64)
        return np.where(sizes > 1, sizes, 0) / self.domain.size

    def covered(self, rungs: Ints, places: Ids) -> Floats:
        """Return the share of leaves that the node of each place covers on a rung; 0 for a single leaf."""
        return np.asarray(self._shares[rungs, places])

    def widths(self, low: Ids, high: Ids) -> Floats:
        """Return the share of leaves that the node covers (the normalised certainty penalty); 0 for a single leaf."""
        return np.asarray(self._shares[self._rungs(low, high), low])

    def groups(self, low: Ids, high: Ids) -> Ints:
        """Return the level below that of the node, because cuts are made between its children."""
        return np.maximum(self._rungs(low, high) - 1, 0)

    def cells(self, low: Ids, high: Ids, of_row: NDArray[np.intp], codes: Codes) -> tuple[Nodes, Ints]:
        """Return the node of each value on the level of its range."""
        nodes, of_code = Nodes.on_levels(self.domain, self.ladder.hierarchy)
        return nodes, np.asarray(of_code[self.levels(low, high)[of_row], codes])


@dataclass(frozen=True, eq=False)
class NumberAxis(Axis):
    """Numbers in ascending order.

    A range can be cut between any two values and is released as the interval from its minimum to its maximum. Values
    that are not numbers come last. A range of several values that are not all numbers is suppressed.

    >>> import shoal
    >>> axis = NumberAxis(Domain.of(shoal.read({"age": [71, 34, 38, None]})["age"]))
    >>> low, high = np.array([0, 1, 2], np.uint32), np.array([1, 1, 3], np.uint32)
    >>> nodes, at = axis.cells(low, high, np.arange(3), np.array([0, 1, 2]))
    >>> axis.widths(low, high).round(2).tolist(), nodes.labels, at.tolist()
    ([0.11, 0.0, 1.0], ('34-38', '*'), [4, 1, 5])
    """

    domain: Domain

    @cached_property
    def _positions(self) -> Floats:
        positions = self.domain.positions
        if positions is None:
            raise ValueError("an axis of numbers needs numbers")
        return np.where(self.domain.hidden, np.nan, positions)

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self._positions, kind="stable")  # NaN last

    @cached_property
    def places(self) -> Ids:  # type: ignore[override]
        """The position of each code."""
        places = np.empty(self.domain.codes, np.uint32)
        places[self._order] = np.arange(self.domain.codes, dtype=np.uint32)
        return places

    @cached_property
    def maps(self) -> tuple[Ids, ...]:  # type: ignore[override]
        """A single grouping, in which each place is a group of its own."""
        return (np.arange(self.domain.codes, dtype=np.uint32),)

    def groups(self, low: Ids, high: Ids) -> Ints:  # noqa: ARG002 - interface of Axis
        """Return 0 for every range: cuts are allowed anywhere."""
        return np.zeros(len(low), np.int64)

    def widths(self, low: Ids, high: Ids) -> Floats:
        """Return the width of each range as a share of the range of all values.

        A single value has width 0. Several values that are not all numbers have width 1.
        """
        sorted_positions = self._positions[self._order]
        least, most = self.domain.ends
        share = (sorted_positions[high] - sorted_positions[low]) / max(most - least, np.finfo(float).tiny)
        return np.where(low == high, 0.0, np.nan_to_num(share, nan=1.0))

    def cells(self, low: Ids, high: Ids, of_row: NDArray[np.intp], codes: Codes) -> tuple[Nodes, Ints]:
        """Return an interval for each range of several numbers; single values are released unchanged."""
        numbers, size = int(np.count_nonzero(~np.isnan(self._positions))), self.domain.codes
        wide = np.flatnonzero((low != high) & (high < numbers))
        alike = group_rows([low[wide], high[wide]], [size, size], len(wide))
        labels, ends = self.domain.column.labels().to_pylist(), wide[alike.first]
        nodes = [self._node(*both, labels) for both in zip(low[ends].tolist(), high[ends].tolist(), strict=True)]
        of_stretch = np.full(len(low), size + len(nodes), np.int64)  # the node that covers everything
        of_stretch[wide] = size + alike.ids.astype(np.int64)
        of_stretch[low == high] = -1
        at = np.where(self.domain.hidden[codes], size + len(nodes), of_stretch[of_row])
        return Nodes.of(self.domain, [*nodes, Node.everything(self.domain)]), np.where(at < 0, codes, at)

    def _node(self, first: int, last: int, labels: list[str | None]) -> Node:
        low, high = (labels[self._order[place]] for place in (first, last))
        label = f"{low}-{high}" if self.domain.column.kind is Kind.INTEGER else f"[{low}, {high}]"
        codes = np.sort(self._order[first : last + 1]).astype(np.uint32)
        ends = tuple(float(self._positions[self._order[place]]) for place in (first, last))
        return Node(label, Fate.COARSER, codes, ends=(ends[0], ends[1]))


def axes(space: Space, bounds: Mapping[str, object], *, free: bool) -> list[Axis]:
    """Return an axis for each column of a space.

    Numeric columns are cut anywhere if ``free``, unless their levels are bounded (``bounds``). All other columns are
    cut between the nodes of their hierarchy.
    """
    axes_of: list[Axis] = []
    for name, ladder in zip(space.names, space.ladders, strict=True):
        domain = Domain.of(space.table[name], ladder.hierarchy)
        anywhere = free and domain.column.kind.numeric and name not in bounds
        axes_of.append(NumberAxis(domain) if anywhere else TreeAxis(domain, ladder))
    return axes_of


def trees(space: Space) -> list[TreeAxis]:
    """Return an axis for each column of a space, cut between the nodes of its hierarchy."""
    return [
        TreeAxis(Domain.of(space.table[name], ladder.hierarchy), ladder)
        for name, ladder in zip(space.names, space.ladders, strict=True)
    ]
