"""Counts over subsets of columns: for every known part of a person's record, the number of persons who share it.

If it fits into memory, one table of counts serves all questions about combinations of columns: for every subset A and
every row, the number of persons with a row that agrees in all columns of A. Otherwise a subset is counted when it is
requested. A subset is represented as bits; bit j stands for column j.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows, Profiles
from shoal.errors import ColumnError, ModelError
from shoal.kernels.subsets import MOST, Rows, Window, agreeing, memory, subset_counts
from shoal.remedy import Setting
from shoal.table.column import Column
from shoal.table.missing import Missing
from shoal.table.table import Table

BUDGET = 2 << 30  # default maximum size of the counts in bytes
PAIRS = 4e10  # maximum number of pairs of rows to compare: some minutes


@dataclass(frozen=True, slots=True, eq=False)
class SubsetCounts:
    """Counts of persons over all subsets of some columns.

    ``counts[A, i]``: the number of persons with a row that agrees with row i in every column of subset A; None if the
    counts do not fit into the budget.

    >>> import shoal
    >>> table = shoal.read({"age": [30, 30, 40], "sex": ["f", "m", "m"]})
    >>> counted = SubsetCounts.of(table, ["age", "sex"])
    >>> counted.agreeing(counted.subset(["age"])).tolist()
    [2, 2, 1]
    """

    table: Table
    columns: tuple[Column, ...]
    rows: Rows
    counts: NDArray[np.uint32] | None
    origin: DistinctRows | Profiles

    @classmethod
    def of(  # noqa: PLR0913 - keyword-only options
        cls,
        table: Table,
        columns: Sequence[str],
        *,
        missing: Missing = Missing.OWN,
        near: Mapping[str, Window] | None = None,
        learned: str | None = None,
        budget: int = BUDGET,
        threads: int = 1,
        progress: Callable[[int, int], None] = lambda *_: None,
    ) -> "SubsetCounts":
        """Count over all subsets of some columns, if the counts fit into the budget.

        ``near``: per column, the values that agree in addition to equal ones; every row is then compared with every
        other. ``learned``: a column in which missing values are a category of their own, whatever the rule.
        """
        rows, origin = _rows(table, columns, missing, learned)
        fits = len(columns) <= MOST and memory(len(rows), len(columns)) <= budget
        if near:
            _check_pairs(rows, fits=fits)
            rows = replace(rows, windows=tuple(near.get(name) for name in columns))
        kept_columns = tuple(table[name] for name in columns)
        return cls(table, kept_columns, rows, subset_counts(rows, threads, progress) if fits else None, origin)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def subset(self, names: Sequence[str]) -> int:
        """Return the subset of some columns as bits."""
        for name in names:
            if name not in self.names:
                raise ColumnError.unknown(name, self.names)
        return sum(1 << self.names.index(name) for name in set(names))

    def agreeing(self, subset: int) -> NDArray[np.int64]:
        """Return, for each row, the number of persons with a row that agrees in every column of a subset."""
        counts = agreeing(self.rows, subset) if self.counts is None else self.counts[subset]
        return counts.astype(np.int64)

    def holders(self) -> NDArray[Any]:
        """Return the holder of each record, in input order: an index into the weights of the rows."""
        engine = self.table.engine
        return engine.expand(self.origin, np.arange(len(self.rows.weights)))

    def expand(self, values: NDArray[Any]) -> NDArray[Any]:
        """Expand one value per row to one per record, in input order.

        Equal records of different persons have rows of their own.
        """
        engine, origin = self.table.engine, self.origin
        if not isinstance(origin, Profiles):
            return engine.expand(origin, values)
        number = len(origin.rows)
        records = engine.expand(origin.rows, np.arange(number, dtype=np.int64))
        keys = self.rows.holders.astype(np.int64) * number + origin.members  # ascending
        of_record = np.searchsorted(keys, self.holders().astype(np.int64) * number + records)
        return np.asarray(values[of_record])


def _check_pairs(rows: Rows, *, fits: bool) -> None:
    if len(rows.weights) != len(rows):
        raise ModelError(
            "several-records",
            "With tolerances, individuals with several different records cannot be counted.",
            remedy="Omit the subject, or reduce the table to one record per individual.",
        )
    if not fits or len(rows) ** 2 > PAIRS:
        raise ModelError(
            "too-many-combinations",
            "{rows:,} distinct rows are too many to compare pairwise, or {columns:column} have too many combinations.",
            remedy="Choose fewer columns, or generalise them first, so that similar values become equal.",
            rows=len(rows),
            columns=len(rows.columns),
        )


def _rows(
    table: Table, columns: Sequence[str], missing: Missing, learned: str | None
) -> tuple[Rows, DistinctRows | Profiles]:
    """Return the rows with their holders, and their origin."""
    if missing is Missing.WILDCARD:
        raise ModelError(
            "wildcard-missing",
            "Combinations of columns cannot be counted if missing values match any value.",
            remedy=Setting("data.missing", "own"),
        )
    if table.subject in columns:
        raise ModelError(
            "subject-is-no-attribute",
            "'{column}' is the subject and cannot be counted as an attribute.",
            column=table.subject,
        )
    never = missing is Missing.NEVER
    apart = tuple(table[name].missing_code if never and name != learned else None for name in columns)
    if table.subject is None:
        distinct = table.distinct(columns)
        return replace(Rows.of(distinct.codes, distinct.counts), apart=apart), distinct
    profiles = table.profiles(columns)
    holders = np.repeat(np.arange(len(profiles), dtype=np.uint32), np.diff(profiles.starts))
    codes = tuple(codes[profiles.members] for codes in profiles.rows.codes)
    return Rows(codes, holders, profiles.counts, apart), profiles


def subsets_of(columns: int, *, most: int | None = None, empty: bool = False) -> Iterator[int]:
    """Yield the subsets of a set of columns, given as bits, with at most ``most`` members.

    >>> list(subsets_of(0b101)), list(subsets_of(0b101, most=1, empty=True))
    ([1, 4, 5], [0, 1, 4])
    """
    if empty:
        yield 0
    members = [1 << place for place in range(columns.bit_length()) if columns >> place & 1]
    if most is not None and most < len(members):
        yield from (sum(chosen) for size in range(1, most + 1) for chosen in combinations(members, size))
        return
    subset = 0
    while subset != columns:
        subset = (subset - columns) & columns
        yield subset
