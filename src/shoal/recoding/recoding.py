"""Recoding: the original and the released cells of every record, the only input of quality measures and attacks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows
from shoal.errors import RecodingError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.grouping import Groups, changes, group, group_rows
from shoal.kernels.summing import summed
from shoal.kernels.translation import Codes, narrowest
from shoal.recoding.nodes import Domain, Fate, Floats, Ints, Node, Nodes
from shoal.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Counts of original values and released nodes.

    ``counts[i]`` records have the code ``codes[i]`` and show the node ``nodes[i]``.
    """

    codes: Ints
    nodes: Ints
    counts: Ints

    @classmethod
    def of(cls, codes: Codes, nodes: Codes, counts: Ints, width: int) -> "Pairs":
        """Count equal pairs. ``width``: the number of nodes."""
        keys = codes.astype(np.uint64) * np.uint64(width) + nodes
        space = (int(codes.max(initial=0)) + 1) * width
        groups = group(keys, space)
        first, number = groups.first, summed(groups.ids, counts, len(groups))
        return cls(codes[first].astype(np.int64), nodes[first].astype(np.int64), number)


@dataclass(frozen=True, eq=False)
class Recoded:
    """One column of a recoding.

    Row r has the original code ``codes[r]`` and stands for the set ``at[r]`` in the release. ``codes`` is None where
    records could not be matched. ``shown[r]``, below ``width``: the text of the cell, which may be true in one cell and
    untrue in another. ``numbers[shown]``: the text as a number, NaN if it is none. ``same[shown]``: the text as a code
    of the original, −1 if it is none. ``original``: the number of records with each code. ``counts``: the number of
    records of each row. ``counted``: the pairs of values and nodes, if already known.
    """

    nodes: Nodes
    codes: Codes | None
    at: Codes
    shown: Codes
    width: int
    original: Ints
    counts: Ints
    numbers: Floats | None = None
    same: Ints | None = None
    counted: Pairs | None = None

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.nodes.domain.column.name

    @property
    def domain(self) -> Domain:
        """The domain of the column."""
        return self.nodes.domain

    @property
    def matched(self) -> Codes:
        """The original code of each row. Raises an error if records could not be matched."""
        if self.codes is None:
            raise RecodingError(
                "records-not-matched", "The fate of single values is unknown, because records could not be matched."
            )
        return self.codes

    @cached_property
    def pairs(self) -> Pairs:
        """The counts of original values and released nodes. A pair may occur more than once."""
        return self.counted or Pairs.of(self.matched, self.at, self.counts, len(self.nodes))

    @cached_property
    def node_counts(self) -> Ints:
        """The number of records that show each node."""
        return summed(self.at, self.counts, len(self.nodes))

    @cached_property
    def shown_counts(self) -> Ints:
        """The number of records that show each text."""
        return summed(self.shown, self.counts, self.width)

    def rows(self, rows: NDArray[np.intp]) -> "Recoded":
        """Return the given rows only. The counts of the original stay those of all rows."""
        codes = None if self.codes is None else self.codes[rows]
        return replace(
            self, codes=codes, at=self.at[rows], shown=self.shown[rows], counts=self.counts[rows], counted=None
        )

    @cached_property
    def values(self) -> Floats:
        """The number that each row shows, whether true or not, or the midpoint of its interval; NaN without one."""
        middles = np.where(self.nodes.lost, np.nan, self.nodes.midpoints)[self.at]
        if self.numbers is None:
            return middles
        written = self.numbers[self.shown]
        return np.where(np.isnan(written), middles, written)

    def mean(self, costs: NDArray[np.float64]) -> float:
        """Return the mean over all records of one number per node; it is bit-identical for any order of nodes."""
        used = self.node_counts > 0  # nodes without records may have no cost
        prices, which = np.unique(costs[used], return_inverse=True)
        return float((summed(which, self.node_counts[used], len(prices)) * prices).sum() / self.node_counts.sum())

    def records(self, *fates: Fate) -> int:
        """Return the number of cells with one of the given outcomes."""
        return int(self._fates[list(fates)].sum())

    @cached_property
    def _fates(self) -> Ints:
        return summed(self.nodes.fates, self.node_counts, len(Fate))


@dataclass(frozen=True, slots=True, eq=False)
class Crowds:
    """Equivalence classes of a release: records with the same released quasi-identifiers.

    ``of_row[r]``: the class of row r. ``sizes``: the class sizes in records. Rows of suppressed records belong to no
    class; their entry is the number of classes.
    """

    of_row: NDArray[np.uint32]
    sizes: Ints


@dataclass(frozen=True, eq=False)
class Recoding:
    """Relation of a transformed table to its original: distinct pairs of an original and a released row, with counts.

    ``columns``: the compared columns. ``quasi``: the quasi-identifiers, to which measures of the whole table refer.
    ``counts[r]``: the number of records of row r. ``suppressed[r]``: whether these records are not in the release, or
    are suppressed in all quasi-identifiers. ``matched``: whether the released record of each original record is known.
    ``known_sizes``: the class sizes of the original, if known in advance; required if records are not matched.
    ``told_apart``: the columns in which rows differ, if others than the quasi-identifiers, such as the subject.
    ``of_record``: the row of each original record, if known.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> from shoal.hierarchy.interval import Interval
    >>> table = shoal.read({"age": [31, 34, 71]})
    >>> ladder = {"age": bind(Interval(widths=[10]), table, "age")}
    >>> recoding = Recoding.of_scheme(table, ladder, {"age": 1})
    >>> recoding["age"].nodes.labels, recoding["age"].node_counts.tolist(), recoding.classes.sizes.tolist()
    (('30-39', '70-79', '*'), [0, 0, 0, 2, 1, 0], [2, 1])
    """

    columns: tuple[Recoded, ...]
    quasi: tuple[str, ...]
    counts: Ints
    suppressed: NDArray[np.bool_]
    matched: bool = True
    known_sizes: Ints | None = None
    told_apart: tuple[str, ...] = ()
    of_record: NDArray[np.uint32] | None = None
    _places: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {column.name: place for place, column in enumerate(self.columns)})

    @classmethod
    def of_scheme(
        cls,
        table: Table,
        hierarchies: Mapping[str, Hierarchy],
        scheme: Mapping[str, int],
        suppressed: NDArray[np.bool_] | None = None,
        rows: DistinctRows | None = None,
    ) -> "Recoding":
        """Return the recoding that replaces every value by its node on the level that the scheme gives its column.

        ``suppressed``: whether each distinct row of the table under these columns is suppressed. ``rows``: these rows,
        if already known.
        """
        rows = table.distinct(scheme) if rows is None else rows
        hidden = np.zeros(len(rows), bool) if suppressed is None else suppressed
        columns = [
            _on_level(Domain.of(table[name], hierarchies[name]), level, codes, rows.counts, hidden)
            for (name, level), codes in zip(scheme.items(), rows.codes, strict=True)
        ]
        return cls(tuple(columns), tuple(scheme), rows.counts, hidden, known_sizes=rows.counts)

    @classmethod
    def of_nodes(
        cls,
        rows: DistinctRows,
        sets: Mapping[str, tuple[Nodes, Ints]],
        hidden: NDArray[np.bool_],
        moved: NDArray[np.bool_] | None = None,
    ) -> "Recoding":
        """Return the recoding in which each distinct row shows its own sets.

        ``sets[name]``: the nodes of a column, and the node of each row. ``hidden``: whether each row is suppressed.
        ``moved``: rows that show the sets of other rows, which may be untrue.
        """
        columns = []
        known = dict(zip(rows.columns, rows.codes, strict=True))
        quasi = tuple(name for name in rows.columns if name in sets)
        for name in quasi:
            codes, (nodes, cells) = known[name], sets[name]
            shown = np.where(hidden, len(nodes) - 1, cells)
            at, original = shown, summed(codes, rows.counts, nodes.domain.codes)
            if moved is not None:
                untrue = moved & ~nodes.holding(shown, codes)
                nodes = Nodes.of(nodes.domain, [*nodes.more, Node.everything(nodes.domain, Fate.CHANGED)])
                at = np.where(untrue, len(nodes) - 1, shown)
            narrow = narrowest(len(nodes))
            pair = at.astype(narrow), shown.astype(narrow)
            columns.append(Recoded(nodes, codes, *pair, len(nodes), original, rows.counts))
        sizes, apart = (rows.counts, ()) if quasi == rows.columns else (None, rows.columns)
        return cls(tuple(columns), quasi, rows.counts, hidden, known_sizes=sizes, told_apart=apart)

    @classmethod
    def of_records(
        cls,
        table: Table,
        hierarchies: Mapping[str, Hierarchy],
        scheme: Mapping[str, int],
        suppressed: NDArray[np.bool_],
    ) -> "Recoding":
        """Return the recoding by a scheme with suppression of single records.

        Records with equal values may differ in suppression.
        """
        codes = [table.codes(name) for name in scheme]
        hidden = suppressed.astype(np.uint8)
        groups = group_rows([*codes, hidden], [*(table[name].size for name in scheme), 2], table.records)
        first = groups.first
        rows = DistinctRows(tuple(scheme), tuple(column[first] for column in codes), groups.counts)
        recoding = cls.of_scheme(table, hierarchies, scheme, suppressed[first], rows)
        return replace(recoding, known_sizes=None)

    def beside(self, table: Table, names: Sequence[str]) -> "Recoding":
        """Add columns of the table that are released unchanged. Rows with different values in them are split.

        The rows of the recoding must be all distinct rows of the table under the quasi-identifiers, or under the
        columns that tell them apart, in their order.

        >>> import shoal
        >>> from shoal.hierarchy.spec import bind_all
        >>> table = shoal.read({"sex": list("ffm"), "dx": ["flu", "none", "flu"]})
        >>> ladders = bind_all({"sex": {"kind": "suppression"}}, table)
        >>> Recoding.of_scheme(table, ladders, {"sex": 1}).beside(table, ["dx"])["dx"].matched.tolist()
        [0, 1, 0]
        """
        more = [name for name in names if name not in self]
        if not more:
            return self
        apart = self.told_apart or self.quasi
        rows = table.distinct((*apart, *more))
        of_row = np.cumsum(changes(rows.codes[: len(apart)], len(rows)), dtype=np.intp)
        if int(of_row.max(initial=-1)) + 1 != len(self.counts):
            raise ValueError("the rows are not those that the table has under the quasi-identifiers")
        ours = [replace(column.rows(of_row), counts=rows.counts) for column in self.columns]
        theirs = [
            _as_it_is(Domain.of(table[name]), codes, rows.counts)
            for name, codes in zip(more, rows.codes[len(apart) :], strict=True)
        ]
        return replace(self, columns=(*ours, *theirs), counts=rows.counts, suppressed=self.suppressed[of_row])

    def __getitem__(self, name: str) -> Recoded:
        if name not in self._places:
            raise RecodingError(
                "column-not-compared",
                "Column '{column}' is not compared.",
                remedy="It must be in both tables.",
                column=name,
            )
        return self.columns[self._places[name]]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    @property
    def records(self) -> int:
        """The number of records of the original."""
        return int(self.counts.sum())

    @cached_property
    def kept(self) -> int:
        """The number of records that are not suppressed."""
        return int(self.counts[~self.suppressed].sum())

    @property
    def of_quasi(self) -> tuple[Recoded, ...]:
        """The quasi-identifiers."""
        return tuple(self[name] for name in self.quasi)

    @cached_property
    def originals(self) -> Groups:
        """The equivalence classes of the original, as groups of rows."""
        codes = [column.matched for column in self.of_quasi]
        return group_rows(codes, [column.domain.codes for column in self.of_quasi], len(self.counts))

    @cached_property
    def sizes(self) -> Ints:
        """The class sizes of the original, in records."""
        if self.known_sizes is not None:
            return self.known_sizes
        return summed(self.originals.ids, self.counts, len(self.originals))

    @cached_property
    def representatives(self) -> tuple[NDArray[np.intp], Ints]:
        """One row per class of the release, with the class size; all released rows if some cells are untrue."""
        kept = np.flatnonzero(~self.suppressed)
        if any(column.records(Fate.CHANGED) for column in self.of_quasi):
            return kept, self.counts[kept]
        rows = np.zeros(len(self.classes.sizes) + 1, np.intp)
        rows[self.classes.of_row] = np.arange(len(self.classes.of_row))
        return rows[:-1], self.classes.sizes

    def released(self) -> "Recoding | None":
        """Return the recoding of the records that are not suppressed; None if there are none."""
        kept = np.flatnonzero(~self.suppressed)
        if not len(kept):
            return None
        return replace(
            self,
            columns=tuple(column.rows(kept) for column in self.columns),
            counts=self.counts[kept],
            suppressed=self.suppressed[kept],
        )

    @cached_property
    def classes(self) -> Crowds:
        """The equivalence classes of the release."""
        kept = np.flatnonzero(~self.suppressed)
        shown = [column.shown[kept] for column in self.of_quasi]
        groups = group_rows(shown, [column.width for column in self.of_quasi], len(kept))
        of_row = np.full(len(self.counts), len(groups), np.uint32)
        of_row[kept] = groups.ids
        return Crowds(of_row, summed(groups.ids, self.counts[kept], len(groups)))


def _as_it_is(domain: Domain, codes: Codes, counts: Ints) -> Recoded:
    nodes = Nodes.of(domain, [Node.everything(domain)])
    return Recoded(nodes, codes, codes, codes, len(nodes), summed(codes, counts, domain.codes), counts)


def _on_level(domain: Domain, level: int, codes: Codes, counts: Ints, hidden: NDArray[np.bool_]) -> Recoded:
    if domain.hierarchy is None:
        raise RecodingError("no-hierarchy", "Column '{column}' has no hierarchy.", column=domain.column.name)
    nodes, of_code = Nodes.on_level(domain, domain.hierarchy, level)
    at = of_code.astype(narrowest(len(nodes)))[codes]
    if hidden.any():
        at[hidden] = len(nodes) - 1
    return Recoded(nodes, codes, at, at, len(nodes), summed(codes, counts, domain.codes), counts)
