"""Equivalence classes of a table, the common input of all models, quality measures and attacks.

Records with the same quasi-identifier values form a class. With a subject column, the class size is the number of
distinct persons in the class; a person with several sensitive values in a class counts once under each value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.classes.grouped import Attribute, Coarsening, Grouped
from shoal.classes.histogram import Histogram
from shoal.classes.members import Counts, Ids, Members
from shoal.classes.shown import Shown, showing
from shoal.errors import ColumnError
from shoal.kernels.compatibility import compatible
from shoal.kernels.translation import Codes
from shoal.remedy import Option, by
from shoal.table.missing import Missing
from shoal.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """Equivalence classes. Class c has the value ``keys[j][c]`` in quasi-identifier j.

    ``sizes``: the number of persons in each class. ``copies``: the number of identical classes that each entry stands
    for. It exceeds 1 only if missing values match nothing, which makes every person with a missing value unique.
    ``crowd``: the number of persons each member could be; it equals the class size unless missing values match any
    value. ``members``: the persons in the classes that each entry stands for.

    >>> import shoal
    >>> table = shoal.read({"age": [34, 34, 71, 71], "sex": list("fffm"), "dx": ["flu", "flu", "flu", "gout"]})
    >>> classes = Classes.of(table, quasi=["age"], sensitive=["dx"])
    >>> classes.sizes.tolist(), classes.histograms["dx"].counts.tolist(), classes.persons
    ([2, 2], [2, 1, 1], 4)
    >>> classes.rolled({"age": Coarsening.dropped(2)}).sizes.tolist()
    [4]
    """

    attributes: tuple[Attribute, ...]
    keys: tuple[Codes, ...]
    sizes: Counts
    copies: Counts
    crowd: Counts
    members: Members
    histograms: Mapping[str, Histogram]
    missing: Missing
    grouped: Grouped

    @classmethod
    def of(  # noqa: PLR0913 - keyword-only options
        cls,
        table: Table,
        quasi: Sequence[str] | None = None,
        sensitive: Sequence[str] | None = None,
        *,
        missing: Missing | str = Missing.OWN,
        combined: bool = False,
        reference: Mapping[str, Counts] | None = None,
    ) -> "Classes":
        """Group a table by its quasi-identifiers; columns not given are taken from the roles of the table.

        ``combined``: treat the sensitive columns as a single column whose values are the combinations of their values.
        ``reference``: the number of persons with each sensitive value in the table from which this table was derived.
        """
        quasi = table.quasi if quasi is None else tuple(quasi)
        sensitive = table.sensitive if sensitive is None else tuple(sensitive)
        _check(table, quasi, sensitive)
        shown = Shown.of(table, quasi, sensitive, combined=combined)
        known = {name: counts for name, counts in (reference or {}).items() if name in shown.reference}
        shown = replace(shown, reference={**shown.reference, **known})
        return _ruled(Grouped.of(shown), Missing(missing))

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def number(self) -> int:
        """The number of classes."""
        return int(self.copies.sum())

    @property
    def quasi(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def records(self) -> int:
        """The number of records in the table, including suppressed records."""
        return self.grouped.shown.records

    @property
    def persons(self) -> int:
        """The number of persons in the table, including suppressed persons."""
        return self.grouped.shown.persons

    @property
    def suppressed(self) -> int:
        """The number of persons with a suppressed record.

        A record is suppressed if all its quasi-identifiers are blank; suppressed records belong to no class.
        """
        return self.grouped.shown.suppressed

    @property
    def overlap(self) -> bool:
        """Whether a person may belong to several classes."""
        return self.members.persons is not None

    @property
    def lacking(self) -> NDArray[np.bool_]:
        """Mask of the classes with a missing value in any quasi-identifier."""
        lacks = [
            np.zeros(len(self), bool) if attribute.missing is None else np.asarray(key == attribute.missing)
            for attribute, key in zip(self.attributes, self.keys, strict=True)
        ]
        return np.logical_or.reduce(lacks) if lacks else np.zeros(len(self), bool)

    @property
    def of_row(self) -> Ids:
        """The class of each distinct row.

        If missing values match nothing, every row with a missing value is a class of its own.
        """
        lacking: NDArray[np.bool_] = np.logical_or.reduce(self.grouped.lacking())
        if self.missing is not Missing.NEVER or not lacking.any():
            return self.grouped.of_row
        apart = lacking[self.grouped.of_row]
        kept = np.cumsum(~lacking) - 1
        alone = np.cumsum(apart) - 1 + int(np.count_nonzero(~lacking))
        return np.where(apart, alone, kept[self.grouped.of_row]).astype(np.uint32)

    def of_records(self, table: Table, values: NDArray[Any]) -> NDArray[Any]:
        """Return the value of the class of each record of the grouped table; 0 for records that belong to no class.

        >>> import shoal
        >>> table = shoal.read({"age": [71, 34, 34]})
        >>> classes = Classes.of(table, quasi=["age"], sensitive=[])
        >>> classes.of_records(table, classes.sizes).tolist()
        [1, 2, 2]
        """
        rows = table.distinct(self.grouped.shown.counted)
        by_row = np.zeros(len(rows), values.dtype)
        by_row[showing(rows, self.grouped.shown.quasi)] = values[self.of_row]
        return table.engine.expand(rows, by_row)

    def only(self, chosen: NDArray[np.bool_]) -> "Classes":
        """Return the chosen classes; the other records count as suppressed.

        The totals and reference counts of the whole table are kept.
        """
        return self if chosen.all() else _ruled(self.grouped.only(chosen[self.of_row]), self.missing)

    def instead(self, sizes: Counts, histograms: Mapping[str, Histogram]) -> "Classes":
        """Return different classes of the same persons, described by sizes and histograms only."""
        ones = np.ones(len(sizes), np.int64)
        return Classes((), (), sizes, ones, sizes, Members(sizes), histograms, self.missing, self.grouped)

    def rolled(self, coarser: Mapping[str, Coarsening]) -> "Classes":
        """Merge the classes that coincide after generalising some columns, without reading the rows again."""
        return _ruled(self.grouped.rolled(coarser), self.missing)


def _check(table: Table, quasi: Sequence[str], sensitive: Sequence[str]) -> None:
    if not quasi:
        raise ColumnError(
            "no-quasi-identifier",
            "No quasi-identifiers are given.",
            remedy=[
                by("Name the columns that an adversary may know", Option("quasi")),
                "The table has the columns {columns:listed}.",
            ],
            columns=table.names,
        )
    if table.records == 0:
        raise ColumnError("no-records", "The table has no records.")
    named = [*quasi, *sensitive]
    twice = [name for name in named if named.count(name) > 1]
    if twice:
        raise ColumnError(
            "column-twice",
            "Column '{column}' is named twice among the quasi-identifiers and sensitive columns.",
            column=twice[0],
        )


def _ruled(grouped: Grouped, missing: Missing) -> Classes:
    """Apply the rule for missing values in quasi-identifiers."""
    sizes, number = grouped.members.counts, len(grouped)
    histograms = {
        counted.column.name: Histogram.of(
            counted.column,
            counted.classes,
            counted.codes,
            counted.members.counts,
            number,
            grouped.shown.reference[counted.column.name],
        )
        for counted in grouped.values
    }
    ones = np.ones(number, np.int64)
    classes = Classes(
        grouped.attributes, grouped.keys, sizes, ones, sizes, grouped.members, histograms, missing, grouped
    )
    lacking = grouped.lacking()
    if missing is Missing.OWN or not lacking.any():
        return classes
    if missing is Missing.NEVER:
        return _apart(classes, np.logical_or.reduce(lacking))
    widths = [attribute.size for attribute in grouped.attributes]
    return replace(classes, crowd=compatible(grouped.keys, widths, lacking, grouped.members.holders()))


def _apart(classes: Classes, lacking: NDArray[np.bool_]) -> Classes:
    """Split the classes with missing values: each of their rows becomes a class of size 1 with one copy per person."""
    of_row = classes.grouped.of_row
    kept, alone = np.flatnonzero(~lacking), np.flatnonzero(lacking[of_row])
    look = np.concatenate([kept, of_row[alone]])
    single = classes.grouped.shown.members.chosen(alone)
    ones = np.ones(len(alone), np.int64)
    sizes = np.concatenate([classes.sizes[kept], ones])
    return replace(
        classes,
        keys=tuple(key[look] for key in classes.keys),
        sizes=sizes,
        copies=np.concatenate([np.ones(len(kept), np.int64), single.counts]),
        crowd=sizes,
        members=classes.members.chosen(kept).beside(single),
        histograms={
            name: _histogram_apart(histogram, lacking, classes.grouped.shown.codes[name][alone])
            for name, histogram in classes.histograms.items()
        },
    )


def _histogram_apart(histogram: Histogram, lacking: NDArray[np.bool_], alone: Codes) -> Histogram:
    place, inside = np.cumsum(~lacking) - 1, ~lacking[histogram.classes]
    kept = int(np.count_nonzero(~lacking))
    own = np.arange(kept, kept + len(alone), dtype=np.uint32)
    return Histogram.of(
        histogram.column,
        np.concatenate([place[histogram.classes[inside]].astype(np.uint32), own]),
        np.concatenate([histogram.codes[inside], alone.astype(np.uint32)]),
        np.concatenate([histogram.counts[inside], np.ones(len(alone), np.int64)]),
        kept + len(alone),
        histogram.reference,
    )
