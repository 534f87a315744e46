"""Transformation of a table: a treatment, resolved into the released cells of each distinct row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.classes.members import Members
from shoal.classes.shown import counted_rows
from shoal.engines.protocol import DistinctRows
from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes, narrowest
from shoal.models.model import least_size
from shoal.recoding.recoding import Recoded, Recoding
from shoal.release.case import Case
from shoal.release.columns import labelled
from shoal.release.linked import followed
from shoal.release.representative import represented
from shoal.separation.split import Split
from shoal.table.column import Column
from shoal.techniques.change import Coarsened, Drawn, RowMask
from shoal.techniques.treatment import Treatment

Cells = Mapping[str, tuple[Column, Codes]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Transformation:
    """Transformation of the records, by distinct row (``rows``).

    ``suppressed``: rows whose records are suppressed. ``cells``: the released column of each quasi-identifier, and the
    code that each row shows. ``drawn``: columns whose cells are drawn for each record. ``coarsened``: the
    released column of each other column that is generalised by value, and the code that each value shows. ``changed``:
    columns whose cells are drawn or replaced by other values. ``split``: columns that are released in a table of their
    own. ``moved``: rows that show the values of other rows. ``added``: the row that each counterfeit copies.
    ``persons``: the number of suppressed persons. ``suppressed_records``: the number of suppressed records.
    ``scheme``: the level of each column, if it is the same for all rows. ``levels``: the number of records on each
    level. ``heights``: the highest level of each hierarchy. ``is_generalised``: whether a released cell shows a set of
    values. ``facts``: information on the search for the treatment. ``words``: the word that identifies each record to
    be released, if they are already known: of tables in memory only.
    """

    rows: DistinctRows
    suppressed: RowMask
    cells: Cells = field(default_factory=dict)
    drawn: tuple[Drawn, ...] = ()
    coarsened: Cells = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    split: Split | None = None
    moved: RowMask | None = None
    added: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    persons: int = 0
    suppressed_records: int = 0
    scheme: Mapping[str, int] = field(default_factory=dict)
    levels: Mapping[str, list[int]] = field(default_factory=dict)
    heights: Mapping[str, int | None] = field(default_factory=dict)
    is_generalised: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)
    words: Words | None = None

    @classmethod
    def of(cls, case: Case, treatment: Treatment) -> "Transformation":
        """Resolve a treatment."""
        recoding = treatment.recoding()
        return cls(
            rows=treatment.rows,
            suppressed=treatment.suppressed,
            cells=_cells(case, treatment, recoding),
            drawn=treatment.drawn,
            changed=treatment.overwritten,
            moved=treatment.moved,
            added=treatment.added,
            persons=treatment.persons,
            suppressed_records=recoding.records - recoding.kept,
            scheme=treatment.scheme,
            levels=treatment.on_levels(case.space),
            heights=treatment.heights(case.space),
            is_generalised=treatment.is_generalised,
            facts=treatment.facts,
        )

    @classmethod
    def unchanged(cls, rows: DistinctRows) -> "Transformation":
        """Return the transformation that changes nothing."""
        return cls(rows, np.zeros(len(rows), bool))

    @property
    def draws(self) -> bool:
        """Whether the key is used to draw cells, or to number the buckets of a split table."""
        return bool(self.drawn) or self.split is not None

    def with_changes(self, changes: Sequence[Drawn | Coarsened], words: Words | None) -> "Transformation":
        """Return the transformation with further changes to columns that are not searched, for records of ``words``."""
        drawn = tuple(change for change in changes if isinstance(change, Drawn))
        coarsened = {change.name: (change.column, change.codes) for change in changes if isinstance(change, Coarsened)}
        return replace(
            self,
            drawn=(*self.drawn, *drawn),
            coarsened={**self.coarsened, **coarsened},
            changed=self.changed | {change.name for change in drawn},
            words=words,
        )

    @property
    def outliers(self) -> Mapping[str, Any]:
        """The figures on the treatment of outliers."""
        numbers: Mapping[str, Any] = self.facts.get("outliers", {})
        return numbers


def _cells(case: Case, treatment: Treatment, recoding: Recoding) -> dict[str, tuple[Column, Codes]]:
    """Return the released quasi-identifiers of the rows of a treatment."""
    rows = treatment.rows
    members = Members(rows.counts) if case.table.subject is None else counted_rows(case.table, rows.columns)[1]
    if treatment.moved is not None:  # they show the values of other rows
        members = replace(members, counts=np.where(treatment.moved, 0, members.counts))
    least = max(2, least_size(case.models))
    shown = shown_by(recoding, case.show, members, least)
    for change in treatment.replaced:
        shown[change.name] = change.column, change.codes.astype(narrowest(max(change.column.size, 1)))
    for follower, leader in case.leaders.items():
        ladder = case.hierarchies[follower]
        shown[follower] = followed(case.table, rows, recoding, leader, ladder, moved=treatment.moved)
    return shown


def shown_by(
    recoding: Recoding,
    how: Mapping[str, str] | None = None,
    members: Members | None = None,
    least: int = 1,
) -> dict[str, tuple[Column, Codes]]:
    """Return the released column of each quasi-identifier, with the code of each row.

    Cells show original values, or labels of sets. ``how``: columns that show the mean, midpoint, median or mode of a
    class instead of a label. ``members``: the persons of each row; by default, every record is a person. A mean, median
    or mode requires known values of at least ``least`` persons.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind_all
    >>> table = shoal.read({"age": [31, 34, 71]})
    >>> ladders = bind_all({"age": {"kind": "interval", "widths": [10]}}, table)
    >>> column, codes = shown_by(Recoding.of_scheme(table, ladders, {"age": 1}))["age"]
    >>> column.labels().take(codes.tolist()).to_pylist()
    ['30-39', '30-39', '70-79']
    """
    kept = np.flatnonzero(~recoding.suppressed)
    chosen = {name: kind for name, kind in (how or {}).items() if kind != "label"}
    return {
        column.name: represented(recoding, column.name, chosen[column.name], members, least)
        if column.name in chosen
        else _shown(column, kept)
        for column in recoding.of_quasi
    }


def _shown(recoded: Recoded, kept: NDArray[np.intp]) -> tuple[Column, Codes]:
    column, at = recoded.domain.column, recoded.shown
    if (at[kept] < column.size).all():  # original values only: the column keeps its type
        return column, np.where(at < column.size, at, 0).astype(narrowest(max(column.size, 1)))
    released, places = labelled(column.name, [*column.labels().to_pylist(), *recoded.nodes.labels])
    return released, places.astype(narrowest(max(released.size, 1)))[at]
