"""Count queries: the error of counts of individuals that are estimated from a release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.hierarchy import Hierarchy
from shoal.recoding.cells import Cells, united
from shoal.recoding.nodes import Floats
from shoal.sheet import Presentable, Sheet
from shoal.table.scale import scale
from shoal.table.table import Table
from shoal.table.united import United
from shoal.words import counted, share

NUMBER = 200
SELECTED = 0.05  # expected share of individuals that a query counts, if columns were independent
_MOST = 3  # quasi-identifiers of a query
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class QueryError(Presentable):
    """Relative errors of counts estimated from a release, |estimate − count| / count.

    ``errors``: that of each query. ``seed``: the seed of the queries.
    """

    __module__ = "shoal"

    errors: Floats
    seed: int

    @property
    def median(self) -> float:
        """The median error."""
        return float(np.median(self.errors))

    @property
    def quartiles(self) -> tuple[float, float]:
        """The errors that a quarter of the queries do not exceed, and that a quarter exceed."""
        low, high = np.quantile(self.errors, [0.25, 0.75])
        return float(low), float(high)

    def to_dict(self) -> dict[str, Any]:
        """Return the errors in numbers."""
        low, high = self.quartiles
        return {
            "queries": len(self.errors),
            "median": self.median,
            "lower_quartile": low,
            "upper_quartile": high,
            "mean": float(self.errors.mean()),
            "seed": self.seed,
        }

    def sheet(self) -> Sheet:
        """Return the errors in words."""
        low, high = self.quartiles
        queries = counted(len(self.errors), "random count query")
        rows = (("median", share(self.median)), ("half of the queries", f"{share(low)} to {share(high)}"))
        return Sheet(f"Relative error of {queries}", ("", "error"), rows)


def query_errors(  # noqa: PLR0913 - keyword-only options
    original: Table,
    tables: Sequence[Table],
    link: str,
    hierarchies: Mapping[str, Hierarchy],
    *,
    number: int = NUMBER,
    seed: int = 0,
) -> QueryError:
    """Return the errors of random count queries.

    A query counts the records with values in given sets, in one to three quasi-identifiers and a sensitive column if
    there is one. Sets are ranges of numbers and dates, and random values of other columns; each contains the value of a
    random record. Their sizes are such that a query would count 5% of the records if columns were independent.

    The release is read like its recipient does: a cell with several values has each of them with the same probability,
    and the tables of a release are independent within a bucket,

        Σ_B |B| · Π_i (share of the records of bucket B in table i)

    as in Xiao & Tao 2006. ``link``: the column with the number of the bucket, which tables of a release have in common.

    >>> import shoal
    >>> original = shoal.read({"age": [31, 34, 71, 78], "dx": ["flu", "ms", "flu", "flu"]})
    >>> original = original.assign(quasi="age", sensitive="dx")
    >>> query_errors(original, [original], "bucket", {}).median
    0.0
    >>> coarse = shoal.read({"age": ["*"] * 4, "dx": ["flu", "ms", "flu", "flu"]})
    >>> query_errors(original, [coarse], "bucket", {}).median > 0
    True
    """
    columns = (*original.quasi, *original.sensitive)
    shown = [_Shown(original, table, link, hierarchies) for table in tables]
    rng = np.random.default_rng(seed)
    errors = np.zeros(number)
    for place in range(number):
        query = _Query.drawn(original, columns, rng)
        true = query.count(original)
        errors[place] = abs(_estimate(query, shown) - true) / true
    return QueryError(errors, seed)


@dataclass(frozen=True, slots=True, eq=False)
class _Query:
    """``sets[name][code]``: whether a value of a column of the original is counted."""

    sets: Mapping[str, Mask]

    @classmethod
    def drawn(cls, original: Table, columns: Sequence[str], rng: np.random.Generator) -> "_Query":
        """Draw a query that counts at least one record."""
        known = [name for name in columns if name in original.quasi]
        chosen = rng.permutation(known)[: rng.integers(1, min(_MOST, len(known)) + 1)].tolist()
        secret = [name for name in columns if name not in known]
        names = [*chosen, *([secret[int(rng.integers(len(secret)))]] if secret else [])]
        record, part = int(rng.integers(original.records)), SELECTED ** (1 / len(names))
        return cls({name: _set(original, name, record, part, rng) for name in names})

    def count(self, original: Table) -> int:
        """Return the number of records of the original with values in all sets."""
        rows = original.distinct([*self.sets])
        inside = np.logical_and.reduce(
            [values[codes] for values, codes in zip(self.sets.values(), rows.codes, strict=True)]
        )
        return int(rows.counts[inside].sum())


def _set(original: Table, name: str, record: int, part: float, rng: np.random.Generator) -> Mask:
    """Return a random set of values of a column with that of a record: a ``part`` of them."""
    column, own = original[name], int(original.codes(name)[record])
    chosen, places = np.zeros(column.size, bool), scale(column)
    size = ceil(part * column.size)
    if places is not None and own < len(column.values):
        order = np.argsort(places[: len(column.values)], kind="stable")
        size = min(size, len(order))
        at = int(np.flatnonzero(order == own)[0])
        start = int(rng.integers(max(at - size + 1, 0), min(at, len(order) - size) + 1))
        chosen[order[start : start + size]] = True
        return chosen
    others = np.setdiff1d(np.arange(column.size), [own])
    chosen[[own, *rng.permutation(others)[: size - 1]]] = True
    return chosen


@dataclass(frozen=True, eq=False)
class _Shown:
    """A table of a release, as its recipient reads it."""

    original: Table
    table: Table
    link: str
    hierarchies: Mapping[str, Hierarchy]

    @cached_property
    def columns(self) -> dict[str, tuple[United, Cells]]:
        """The columns of the original that the table shows."""
        names = [name for name in (*self.original.quasi, *self.original.sensitive) if name in self.table]
        together = {name: united(name, self.original, [], [self.table]) for name in names}
        return {
            name: (values, Cells.of(values, self.original, self.table, name, self.hierarchies))
            for name, values in together.items()
        }

    def counts(self, query: _Query) -> tuple[list[Any], Floats, NDArray[np.int64]]:
        """Return the buckets of the table, the expected number of their records that a query counts, and their size."""
        names = [name for name in query.sets if name in self.columns]
        linked = [self.link] if self.link in self.table else []
        rows = self.table.distinct([*linked, *names])
        expected = rows.counts.astype(np.float64)
        for name, codes in zip(names, rows.codes[len(linked) :], strict=True):
            expected *= self._shares(name, query.sets[name])[codes]
        if not linked:
            return [None], np.array([expected.sum()]), np.array([rows.counts.sum()])
        number = self.table[self.link].size
        sizes = np.bincount(rows.codes[0], rows.counts, number).astype(np.int64)
        labels = self.table[self.link].labels().to_pylist()
        return labels, np.asarray(np.bincount(rows.codes[0], expected, number), np.float64), sizes

    def _shares(self, name: str, chosen: Mask) -> Floats:
        """Return, for each released code, the share of its values that a query counts."""
        values, cells = self.columns[name]
        inside = np.zeros(values.column.size, bool)
        inside[values.places[0][chosen]] = True
        places = scale(values.column)
        if places is not None and not np.isnan(places[inside]).any():  # a range, which may contain new numbers
            inside |= (places >= places[inside].min()) & (places <= places[inside].max())
        sums = np.add.reduceat(inside[cells.members], cells.starts[:-1])
        return np.asarray((sums / np.maximum(cells.sizes, 1))[cells.nodes], np.float64)


def _estimate(query: _Query, tables: Sequence[_Shown]) -> float:
    """Return the estimated number of records that a query counts."""
    first, *others = tables
    labels, expected, _ = first.counts(query)
    for table in others:
        places = {label: place for place, label in enumerate(labels)}
        further, counts, sizes = table.counts(query)
        shares = np.zeros(len(labels))
        at = [places[label] for label in further if label in places]
        there = [place for place, label in enumerate(further) if label in places]
        shares[at] = counts[there] / np.maximum(sizes[there], 1)
        expected = expected * shares
    return float(expected.sum())
