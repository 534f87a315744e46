"""Matching by content: released records whose cells cover the values of an original record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.covering import Covering, Sets
from shoal.recoding.cells import Cells, united
from shoal.recoding.nodes import Floats, Ints
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.table.united import United

MOST = 0.99  # share of released records that must cover an original one; otherwise values were changed


@dataclass(frozen=True, eq=False)
class Content:
    """The columns of an original and its release in common codes.

    ``columns``: the shared columns without subject and direct identifiers. ``cells``: the values that each released
    cell covers. ``values[name]``: the original value of each record, as its code. ``named``: subject and direct
    identifiers that the release holds unchanged.
    """

    original: Table
    release: Table
    columns: tuple[str, ...]
    cells: Mapping[str, Cells]
    values: Mapping[str, NDArray[np.unsignedinteger[Any]]]
    named: tuple[str, ...]

    @classmethod
    def of(cls, original: Table, release: Table, hierarchies: Mapping[str, Hierarchy]) -> "Content":
        """Encode all shared columns.

        >>> import shoal
        >>> data = {"age": [31, 71, 34], "dx": ["flu", "ms", "gout"]}
        >>> release = {"age": ["30-39", "30-39", "71"], "dx": ["gout", "flu", "ms"]}
        >>> Content.of(shoal.read(data), shoal.read(release), {}).matched().tolist()
        [1, 2, 0]
        """
        naming = naming_columns(original)
        columns = tuple(name for name in original.names if name in release and name not in naming)
        together = {name: united(name, original, [], [release]) for name in columns}
        return cls(
            original,
            release,
            columns,
            {name: Cells.of(united, original, release, name, hierarchies) for name, united in together.items()},
            {name: united.places[0][original.codes(name)] for name, united in together.items()},
            tuple(name for name in naming if _goes_on(name, original, release)),
        )

    def fits(self, rows: NDArray[np.intp]) -> Mapping[str, float]:
        """Return for each column the share of matched records whose released cell covers their value.

        ``rows[i]``: the released record of original record i, −1 if there is none.
        """
        there = np.flatnonzero(rows >= 0)
        return {
            name: float(cells.holds(cells.codes[rows[there]], self.values[name][there]).mean()) if len(there) else 0.0
            for name, cells in self.cells.items()
        }

    def by_chance(self, name: str) -> float:
        """Return the expected share of fitting cells of a column under a random match."""
        cells = self.cells[name]
        shown = np.bincount(cells.nodes[cells.codes], minlength=len(cells.starts) - 1)
        return float(cells.shares(self.values[name]) @ shown / max(len(cells.codes), 1))

    def matched(self) -> NDArray[np.intp] | None:
        """Return, for each original record, a released record that covers it in all columns; −1 if none is left.

        The match is maximal and prefers the most specific released records; equal released records are interchangeable.
        None if more than 1 % of the released records match no original record, as after perturbation.
        """
        rows = self._matched(self.named)
        return (
            rows if rows is not None or not self.named else self._matched(())
        )  # identifiers may be pseudonyms of the same form

    def _matched(self, named: Sequence[str]) -> NDArray[np.intp] | None:
        """Match records by all columns and the given identifiers."""
        if not self.columns and not named:
            return None
        rows = self.release.distinct((*self.columns, *named))
        shown = dict(zip(rows.columns, rows.codes, strict=True))
        names = {name: United.of([self.original[name], self.release[name]]) for name in named}
        sets = [self.cells[name].sets(shown[name]) for name in self.columns]
        singles = [_singles(united, shown[name]) for name, united in names.items()]
        ours = [united.places[0][self.original.codes(name)] for name, united in names.items()]
        covering = Covering((*sets, *singles), rows.counts)
        values = [*(self.values[name] for name in self.columns), *ours]
        taken = covering.assigned(values, self._telling(rows))
        if np.count_nonzero(taken >= 0) < MOST * self.release.records:
            return None
        return _records(rows, taken)

    def _telling(self, rows: DistinctRows) -> Ints:
        """Return the rank of each row by its specificity; 0 is the least specific."""
        shown = dict(zip(rows.columns, rows.codes, strict=True))
        reach: Floats = np.zeros(len(rows))
        for name in self.columns:
            cells, share = self.cells[name], self._shares[name]
            reach += np.log(np.maximum(share[cells.nodes[shown[name]]], 1e-300))
        return np.asarray(np.unique(-reach.round(9), return_inverse=True)[1], np.int64)

    @cached_property
    def _shares(self) -> dict[str, Floats]:
        return {name: cells.shares(self.values[name]) for name, cells in self.cells.items()}


def naming_columns(table: Table) -> list[str]:
    """Return the columns that hold the subject or a direct identifier."""
    return [name for role in (Role.SUBJECT, Role.DIRECT) for name in table.with_role(role)]


def _goes_on(name: str, original: Table, release: Table) -> bool:
    """Return whether the release holds an identifier column with values of the original."""
    if name not in release or release[name].kind is not original[name].kind:
        return False
    ours, theirs = original[name].values, release[name].values
    return len(theirs) > 0 and bool(pc.all(pc.is_in(theirs, ours)).as_py())


def _singles(united: United, codes: NDArray[np.unsignedinteger[Any]]) -> Sets:
    """Return the sets that the cells of an identifier column cover: single values."""
    size = united.column.size
    return Sets(united.places[1][codes].astype(np.uint32), np.arange(size + 1), np.arange(size, dtype=np.uint32), size)


def _records(rows: DistinctRows, taken: Ints) -> NDArray[np.intp]:
    """Return a released record for each original record, among those of its assigned distinct row."""
    by_row = np.argsort(rows.origin, kind="stable")
    starts = np.searchsorted(rows.origin[by_row], np.arange(len(rows)))
    record_of, there = np.full(len(taken), -1, np.intp), np.flatnonzero(taken >= 0)
    order = there[np.argsort(taken[there], kind="stable")]
    row = taken[order]
    among = np.arange(len(order)) - np.searchsorted(row, row)  # position among the records of the same row
    record_of[order] = by_row[starts[row] + among]
    return record_of
