"""Grouped rows: classes in which missing values equal each other, and their merging under generalisation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.classes.members import Ids, Members
from shoal.classes.shown import Shown
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.grouping import changes, group, group_rows
from shoal.kernels.translation import Codes, narrowest, translate
from shoal.table.column import Column


@dataclass(frozen=True, slots=True)
class Attribute:
    """The codes of a quasi-identifier: their number, and the code of a missing value if there is one."""

    name: str
    size: int
    missing: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Coarsening:
    """Generalisation of the codes of one column: ``nodes[code]`` is the generalised code."""

    nodes: Ids
    size: int
    missing: int | None = None

    @classmethod
    def to_level(cls, hierarchy: Hierarchy, level: int) -> "Coarsening":
        """Map values to their nodes on a level of a hierarchy."""
        return cls(hierarchy.nodes(level), len(hierarchy.levels[level]), hierarchy.missing_node(level))

    @classmethod
    def dropped(cls, size: int) -> "Coarsening":
        """Map all codes to a single code, which is equivalent to removing the column."""
        return cls(np.zeros(size, np.uint32), 1)


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of one sensitive column per class: entry i is the value ``codes[i]`` in class ``classes[i]``."""

    column: Column
    classes: Ids
    codes: Ids
    members: Members

    @classmethod
    def of(cls, column: Column, classes: Ids, codes: Codes, members: Members, number: int) -> "Values":
        """Merge the entries with the same class and value; ``number``: the number of classes."""
        groups = group(classes.astype(np.uint64) * np.uint64(column.size) + codes, number * column.size)
        at = groups.first
        return cls(column, classes[at], codes[at].astype(np.uint32), members.merged(groups.ids, len(groups)))


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Classes of rows.

    Class c has the value ``keys[j][c]`` in quasi-identifier j. ``of_row``: the class of each distinct row.
    """

    attributes: tuple[Attribute, ...]
    keys: tuple[Codes, ...]
    members: Members
    values: tuple[Values, ...]
    of_row: Ids
    shown: Shown

    @classmethod
    def of(cls, shown: Shown) -> "Grouped":
        """Group rows with equal quasi-identifiers, which are adjacent because the rows are sorted."""
        rows = len(shown.members.counts)
        of_row, first = _runs(shown.keys, rows) if shown.sensitive else _apart(rows)
        number = len(first)
        is_same = number == len(of_row)  # every row is a separate class
        return cls(
            attributes=tuple(Attribute(column.name, column.size, column.missing_code) for column in shown.quasi),
            keys=shown.keys if is_same else tuple(key[first] for key in shown.keys),
            members=shown.members if is_same else shown.members.merged(of_row, number),
            values=tuple(
                Values.of(column, of_row, shown.codes[column.name], shown.members, number) for column in shown.sensitive
            ),
            of_row=of_row,
            shown=shown,
        )

    def __len__(self) -> int:
        return len(self.members.counts)

    def rolled(self, coarser: Mapping[str, Coarsening]) -> "Grouped":
        """Merge the classes that coincide after generalising some columns."""
        values = [
            _coarser(attribute, key, coarser.get(attribute.name))
            for attribute, key in zip(self.attributes, self.keys, strict=True)
        ]
        groups = group_rows([key for _, key in values], [attribute.size for attribute, _ in values], len(self))
        number = len(groups)
        return replace(
            self,
            attributes=tuple(attribute for attribute, _ in values),
            keys=tuple(key[groups.first] for _, key in values),
            members=self.members.merged(groups.ids, number),
            values=tuple(
                Values.of(counted.column, groups.ids[counted.classes], counted.codes, counted.members, number)
                for counted in self.values
            ),
            of_row=groups.ids[self.of_row],
        )

    def only(self, rows: NDArray[np.bool_]) -> "Grouped":
        """Keep the selected rows, and drop the classes without any remaining row."""
        places = np.flatnonzero(rows)
        shown = self.shown.only(rows)
        alive = np.unique(self.of_row[places])
        number = np.zeros(len(self), np.uint32)
        number[alive] = np.arange(len(alive), dtype=np.uint32)
        of_row = number[self.of_row[places]]
        return replace(
            self,
            keys=tuple(key[alive] for key in self.keys),
            members=shown.members.merged(of_row, len(alive)),
            values=tuple(
                Values.of(counted.column, of_row, shown.codes[counted.column.name], shown.members, len(alive))
                for counted in self.values
            ),
            of_row=of_row,
            shown=shown,
        )

    def lacking(self) -> NDArray[np.bool_]:
        """Return, per quasi-identifier, a mask of the classes with a missing value."""
        lacking = np.zeros((len(self.keys), len(self)), bool)
        for lacks, attribute, key in zip(lacking, self.attributes, self.keys, strict=True):
            if attribute.missing is not None:
                lacks[:] = key == attribute.missing
        return lacking


def _apart(rows: int) -> tuple[Ids, NDArray[np.intp]]:
    """Number each row as its own class: without sensitive columns, all distinct rows differ in a quasi-identifier."""
    return np.arange(rows, dtype=np.uint32), np.arange(rows)


def _runs(columns: Sequence[Codes], rows: int) -> tuple[Ids, NDArray[np.intp]]:
    """Number the runs of equal rows; return the run of each row and the first row of each run."""
    new = changes(columns, rows)
    new[:1] = True
    return np.cumsum(new, dtype=np.uint32) - np.uint32(1), np.flatnonzero(new)


def _coarser(attribute: Attribute, key: Codes, how: Coarsening | None) -> tuple[Attribute, Codes]:
    if how is None:
        return attribute, key
    out: Codes = np.empty(len(key), narrowest(how.size))
    translate(key, how.nodes, out)
    return Attribute(attribute.name, how.size, how.missing), out
