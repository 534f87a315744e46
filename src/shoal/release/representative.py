"""Representative of a class: one value that all its records show instead of a set.

The review of machine learning on anonymised health data calls it mean generalisation. The records of a class still
share their released values, but these are no longer true of each record.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.classes.members import Members
from shoal.errors import PolicyError
from shoal.hierarchy.labels import read_range
from shoal.kernels.compatibility import Persons
from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes, narrowest
from shoal.recoding.nodes import Floats, interval
from shoal.recoding.recoding import Recoded, Recoding
from shoal.remedy import ColumnSetting, either
from shoal.table.column import Column
from shoal.table.kind import Kind

_OTHERS = either(ColumnSetting("show", "mode"), ColumnSetting("show", "median"))
_SAME = 6  # digits to which sums of shares of persons are compared
_DIGITS = 6  # significant digits: enough for analyses, and the same in every file format


def represented(
    recoding: Recoding, name: str, how: str, members: Members | None = None, least: int = 1
) -> tuple[Column, Codes]:
    """Return the released column of a recoding with one representative value per class instead of sets.

    Single values are kept. ``how``: ``mean`` or ``midpoint`` (numbers), ``median`` (columns with a scale) or ``mode``.
    ``members``: the persons of each row; by default, every record is a person. A person with several records in a class
    counts once, with equal shares of them. If the column is constant within persons, the value is that of all records
    that show the same sets in the columns that are constant: thus all records of a person show the same value. The
    mean, median or mode of known values of fewer than ``least`` persons is suppressed.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind_all
    >>> table = shoal.read({"age": [31, 34, 34, 71]})
    >>> ladders = bind_all({"age": {"kind": "interval", "widths": [10]}}, table)
    >>> recoding = Recoding.of_scheme(table, ladders, {"age": 1})
    >>> for how in ("mean", "midpoint", "median", "mode"):
    ...     column, codes = represented(recoding, "age", how)
    ...     print(how, column.labels().take(codes.tolist()).to_pylist())
    mean ['33.0', '33.0', '71.0']
    midpoint ['34.5', '34.5', '74.5']
    median ['34', '34', '71']
    mode ['34', '34', '71']
    """
    recoded = recoding[name]
    groups = _Groups.of(recoding, recoded, members)
    weights = recoded.counts.astype(np.float64) if members is None else _weights(recoding, recoded, members, groups)
    column = recoded.domain.column
    if how in {"mean", "midpoint"} and not column.kind.numeric and len(column.values):
        raise PolicyError(
            "cannot-show",
            "Column '{column}' cannot show a {show}, because it is of type {kind}.",
            remedy=_OTHERS,
            column=name,
            show=how,
            kind=column.kind,
        )
    if how == "median" and recoded.domain.positions is None and len(column.values):
        raise PolicyError(
            "cannot-show",
            "Column '{column}' cannot show a median, because it is of type {kind}.",
            remedy=ColumnSetting("show", "mode"),
            column=name,
            kind=column.kind,
        )
    general = ~recoding.suppressed & (recoded.shown >= column.size) & ~_missing(recoded)
    if how in {"mean", "midpoint"}:
        shown = _middles(recoded) if how == "midpoint" else _means(recoding, recoded, groups, weights, least)
        return _numbers(recoding, recoded, general, shown)
    return _members(recoding, recoded, groups, general, _median if how == "median" else _mode, weights, least)


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """The groups whose records show one representative value. Suppressed rows are in a last group of their own."""

    of_row: NDArray[np.uint32]
    number: int

    @classmethod
    def of(cls, recoding: Recoding, recoded: Recoded, members: Members | None) -> "_Groups":
        """Return the classes; for a column that is constant within persons, those by the constant columns alone."""
        classes = recoding.classes
        if members is None or members.persons is None or not _constant(recoding, recoded, members.persons):
            return cls(classes.of_row, len(classes.sizes) + 1)
        constant = [column for column in recoding.of_quasi if _constant(recoding, column, members.persons)]
        kept = np.flatnonzero(~recoding.suppressed)
        shown = [column.shown[kept] for column in constant]
        groups = group_rows(shown, [column.width for column in constant], len(kept))
        of_row = np.full(len(recoding.suppressed), len(groups), np.uint32)
        of_row[kept] = groups.ids
        return cls(of_row, len(groups) + 1)


def _constant(recoding: Recoding, recoded: Recoded, persons: Persons) -> bool:
    """Return whether all released records of each person have the same value."""
    kept = ~recoding.suppressed[persons.rows]
    holders, values = persons.holders[kept], recoded.matched[persons.rows[kept]]
    first = np.zeros(len(persons.weights), values.dtype)
    first[holders] = values
    return bool((first[holders] == values).all())


def _weights(recoding: Recoding, recoded: Recoded, members: Members, groups: _Groups) -> Floats:
    """Return the weight of each row: its persons, or their shares if they have several known values in the group."""
    if members.persons is None:
        return members.counts.astype(np.float64)
    pairs = members.persons
    known = _known(recoding, recoded) & (members.counts > 0)
    rows, holders = pairs.rows[known[pairs.rows]], pairs.holders[known[pairs.rows]]
    same = group_rows([groups.of_row[rows], holders], [groups.number, len(pairs.weights)], len(rows))
    return _sums(rows, pairs.weights[holders] / same.counts[same.ids], len(recoded.counts))


def _sums(groups: NDArray[np.integer[Any]], weights: Floats, number: int) -> Floats:
    """Return the sum of the weights in each of ``number`` groups."""
    return np.asarray(np.bincount(groups, weights, number), np.float64)


def _known(recoding: Recoding, recoded: Recoded) -> NDArray[np.bool_]:
    """Return whether each released row has a value that may be shown."""
    known = (recoded.matched < len(recoded.domain.column.values)) & ~recoded.domain.hidden[recoded.matched]
    return np.asarray(known & ~recoding.suppressed)


def _reach(weights: Floats, least: int) -> NDArray[np.bool_]:
    """Return which sums of the weights of persons are at least a number of persons."""
    return np.asarray(np.round(weights, _SAME) >= max(least, 1))


def _numbers(recoding: Recoding, recoded: Recoded, general: NDArray[np.bool_], shown: Floats) -> tuple[Column, Codes]:
    """Show means or midpoints, which need not be the value of any record."""
    single = np.append(_positions(recoded), np.nan)
    numbers = single[np.minimum(recoded.shown, len(single) - 1)]
    return _numbered(recoded, np.where(general, _rounded(shown), numbers), recoding.suppressed)


def _middles(recoded: Recoded) -> Floats:
    """Return the midpoint of the interval that each label states; NaN without an interval, or if it is open.

    The values themselves are not used: the largest value in an open interval may be that of a suppressed person.
    """
    middles = np.full(len(recoded.nodes), np.nan)
    for place, node in enumerate(recoded.nodes.more, recoded.domain.codes):
        stated = None if node.label is None else read_range(node.label)
        ends = interval(recoded.domain, node.label)
        if stated is not None and stated.low is not None and stated.high is not None and ends is not None:
            middles[place] = sum(ends) / 2
    return middles[recoded.shown]


def _rounded(numbers: Floats) -> Floats:
    """Round to ``_DIGITS`` significant digits."""
    exact, which = np.unique(numbers, return_inverse=True)
    return np.array([float(f"{number:.{_DIGITS}g}") for number in exact])[which]


def _numbered(recoded: Recoded, numbers: Floats, suppressed: NDArray[np.bool_]) -> tuple[Column, Codes]:
    """Return a column of numbers.

    A cell without a number is missing if its value was missing, and otherwise suppressed.
    """
    lacking = np.isnan(numbers) & ~suppressed
    missing = lacking & _missing(recoded)
    known = ~np.isnan(numbers)
    exact, which = np.unique(numbers[known], return_inverse=True)
    column = Column(recoded.name, Kind.NUMBER, pa.array(exact), bool(missing.any()), bool((lacking & ~missing).any()))
    codes = np.zeros(len(numbers), np.int64)
    codes[known] = which
    codes[missing] = column.missing_code or 0
    codes[lacking & ~missing] = column.suppressed_code or 0
    return column, codes.astype(narrowest(max(column.size, 1)))


def _missing(recoded: Recoded) -> NDArray[np.bool_]:
    """Return whether each row shows a missing value."""
    column = recoded.domain.column
    labels = [
        *(code == column.missing_code for code in range(column.size)),
        *(label is None for label in recoded.nodes.labels),
    ]
    return np.array(labels, bool)[recoded.shown]


def _positions(recoded: Recoded) -> Floats:
    positions = recoded.domain.positions
    return (
        np.full(recoded.domain.codes, np.nan)
        if positions is None
        else np.where(recoded.domain.hidden, np.nan, positions)
    )


def _means(recoding: Recoding, recoded: Recoded, groups: _Groups, weights: Floats, least: int) -> Floats:
    """Return for each row the mean of the known values of its group.

    NaN if those of fewer than ``least`` persons are known, and for suppressed rows.
    """
    values = _positions(recoded)[recoded.matched]
    known = ~np.isnan(values) & ~recoding.suppressed
    persons = _sums(groups.of_row[known], weights[known], groups.number)
    sums = _sums(groups.of_row[known], weights[known] * values[known], groups.number)
    means = np.full(groups.number, np.nan)
    enough = _reach(persons, least)
    means[enough] = sums[enough] / persons[enough]
    return means[groups.of_row]


_Choose = Callable[[Recoding, Recoded, _Groups, Floats], tuple[NDArray[np.int64], NDArray[np.int64]]]


def _members(  # noqa: PLR0913, PLR0917 - a recoding, and how to choose the member of a group
    recoding: Recoding,
    recoded: Recoded,
    groups: _Groups,
    general: NDArray[np.bool_],
    choose: _Choose,
    weights: Floats,
    least: int,
) -> tuple[Column, Codes]:
    """Show the value of a member of the group; suppressed if fewer than ``least`` members have a known value."""
    column = recoded.domain.column
    chosen = np.full(groups.number, -1, np.int64)
    places, codes = choose(recoding, recoded, groups, weights)
    chosen[places] = codes
    known = _known(recoding, recoded)
    chosen[~_reach(_sums(groups.of_row[known], weights[known], groups.number), least)] = -1
    shown = np.where(general, chosen[groups.of_row], recoded.shown.astype(np.int64))
    shown[recoding.suppressed] = 0
    shown[_missing(recoded)] = column.missing_code or 0
    hidden = shown < 0
    shown_column = Column(
        column.name, column.kind, column.values, column.missing, column.suppressed or bool(hidden.any())
    )
    shown[hidden] = shown_column.suppressed_code or 0
    return shown_column, shown.astype(narrowest(max(shown_column.size, 1)))


def _median(
    recoding: Recoding, recoded: Recoded, groups: _Groups, weights: Floats
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lower median of each group: the smallest value that at least half of its records do not exceed."""
    values, of_row = _positions(recoded)[recoded.matched], groups.of_row
    rows = np.flatnonzero(~np.isnan(values) & ~recoding.suppressed & (weights > 0))
    rows = rows[np.lexsort((values[rows], of_row[rows]))]
    classes = of_row[rows].astype(np.int64)
    starts = np.flatnonzero(np.diff(classes, prepend=-1))
    reached = np.cumsum(weights[rows])
    before = np.concatenate([[0.0], reached])[starts]
    totals = np.diff(np.append(before, reached[-1] if len(reached) else 0))
    place = np.searchsorted(starts, np.arange(len(rows)), side="right") - 1
    half = np.round(2 * (reached - before[place]) - totals[place], _SAME) >= 0
    first = np.flatnonzero(half & np.concatenate([[True], ~half[:-1] | (classes[1:] != classes[:-1])])[: len(half)])
    return classes[first], recoded.matched[rows[first]].astype(np.int64)


def _mode(
    recoding: Recoding, recoded: Recoded, groups: _Groups, weights: Floats
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the most frequent value of each group; the first one in case of ties."""
    column, of_row = recoded.domain.column, groups.of_row
    shown = (recoded.matched < len(column.values)) & ~recoded.domain.hidden[recoded.matched]
    rows = np.flatnonzero(shown & ~recoding.suppressed & (weights > 0))
    pairs, which = np.unique(of_row[rows].astype(np.int64) * column.size + recoded.matched[rows], return_inverse=True)
    counts = np.round(np.bincount(which, weights[rows], len(pairs)), _SAME)
    classes, codes = pairs // column.size, pairs % column.size
    order = np.lexsort((codes, -counts, classes))
    first = order[np.flatnonzero(np.diff(classes[order], prepend=-1))]
    return classes[first], codes[first]
