"""An axis: one quasi-identifier as a partition sees it — values in an order, cuts between them, names for stretches."""

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
    """``places[code]``: where a value lies. A stretch of values is that from one place to another."""

    places: Ids
    maps: tuple[Ids, ...]

    @abstractmethod
    def widths(self, low: Ids, high: Ids) -> Floats:
        """Return the share of the domain that each stretch takes, from 0 to 1."""

    @abstractmethod
    def groups(self, low: Ids, high: Ids) -> Ints:
        """Return which of ``maps`` tells, by place, what must stay together when a stretch is cut."""

    @abstractmethod
    def cells(self, low: Ids, high: Ids, of_row: NDArray[np.intp], codes: Codes) -> tuple[Nodes, Ints]:
        """Return the sets that cells show: row r has the value ``codes[r]`` and is in the stretch ``of_row[r]``."""


@dataclass(frozen=True, eq=False)
class TreeAxis(Axis):
    """Values in the order of a hierarchy. A stretch is cut between nodes, and shows the lowest node that covers it.

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
        """Where each code lies."""
        return self.ladder.places

    @cached_property
    def maps(self) -> tuple[Ids, ...]:  # type: ignore[override]
        """The node of each place on each level."""
        return self.ladder.maps()

    def _rungs(self, low: Ids, high: Ids) -> Ints:
        """Return the lowest level of the ladder on which each stretch is one node."""
        rungs: Ints = np.sum([nodes[low] != nodes[high] for nodes in self.maps], axis=0).astype(np.int64)
        return rungs

    def levels(self, low: Ids, high: Ids) -> Ints:
        """Return the same as levels of the hierarchy."""
        return self._rungs(low, high) + self.ladder.low

    @cached_property
    def _shares(self) -> Floats:
        """``[level, place]``: the share of all leaves that the node of a place covers."""
        levels = self.ladder.hierarchy.levels
        covered = [
            levels[self.ladder.low + rung].leaf_counts()[numbers[nodes]]
            for rung, (numbers, nodes) in enumerate(zip(self.ladder.numbers, self.maps, strict=True))
        ]
        sizes = np.stack(covered).astype(np.float64)
        return np.where(sizes > 1, sizes, 0) / self.domain.size

    def widths(self, low: Ids, high: Ids) -> Floats:
        """Return the share of leaves that the node covers (the normalised certainty penalty); 0 if it is one."""
        return np.asarray(self._shares[self._rungs(low, high), low])

    def groups(self, low: Ids, high: Ids) -> Ints:
        """Return the level below that of the node: cuts are between its children."""
        return np.maximum(self._rungs(low, high) - 1, 0)

    def cells(self, low: Ids, high: Ids, of_row: NDArray[np.intp], codes: Codes) -> tuple[Nodes, Ints]:
        """Return the node of each value on the level of its stretch."""
        nodes, of_code = Nodes.on_levels(self.domain, self.ladder.hierarchy)
        return nodes, np.asarray(of_code[self.levels(low, high)[of_row], codes])


@dataclass(frozen=True, eq=False)
class NumberAxis(Axis):
    """Numbers. A stretch is cut between any two, and shows the smallest and the largest of them.

    What is no number comes last; a stretch of both shows nothing.

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
        """Where each code lies."""
        places = np.empty(self.domain.codes, np.uint32)
        places[self._order] = np.arange(self.domain.codes, dtype=np.uint32)
        return places

    @cached_property
    def maps(self) -> tuple[Ids, ...]:  # type: ignore[override]
        """Each place for itself."""
        return (np.arange(self.domain.codes, dtype=np.uint32),)

    def groups(self, low: Ids, high: Ids) -> Ints:  # noqa: ARG002 - as the others
        """Return that cuts may be anywhere."""
        return np.zeros(len(low), np.int64)

    def widths(self, low: Ids, high: Ids) -> Floats:
        """Return the share of the range; all of it if a stretch has something that is no number."""
        sorted_positions = self._positions[self._order]
        least, most = self.domain.ends
        share = (sorted_positions[high] - sorted_positions[low]) / max(most - least, np.finfo(float).tiny)
        return np.where(low == high, 0.0, np.nan_to_num(share, nan=1.0))

    def cells(self, low: Ids, high: Ids, of_row: NDArray[np.intp], codes: Codes) -> tuple[Nodes, Ints]:
        """Return an interval for each stretch of several numbers; single values stay what they are."""
        numbers, size = int(np.count_nonzero(~np.isnan(self._positions))), self.domain.codes
        wide = np.flatnonzero((low != high) & (high < numbers))
        alike = group_rows([low[wide], high[wide]], [size, size], len(wide))
        labels, ends = self.domain.column.labels().to_pylist(), wide[alike.first]
        nodes = [self._node(*both, labels) for both in zip(low[ends].tolist(), high[ends].tolist(), strict=True)]
        of_stretch = np.full(len(low), size + len(nodes), np.int64)  # everything
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
    """Return an axis for each column of a space: numbers are cut anywhere if ``free``, all else between nodes.

    ``bounds``: columns whose levels are bounded, which are cut between nodes, too.
    """
    axes_of: list[Axis] = []
    for name, ladder in zip(space.names, space.ladders, strict=True):
        domain = Domain.of(space.table[name], ladder.hierarchy)
        anywhere = free and domain.column.kind.numeric and name not in bounds
        axes_of.append(NumberAxis(domain) if anywhere else TreeAxis(domain, ladder))
    return axes_of
