"""The contribution of each column to the uniqueness of individuals.

Whether a column singles out individuals depends on the other known columns. Its Shapley value is the share of
individuals that it makes unique, averaged over all orders in which columns may become known. The values of all columns
add up to the share of unique individuals if all columns are known. Shapley 1953; for quasi-identifiers, see Menten
2024's critique.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ModelError
from shoal.kernels.subsets import Rows
from shoal.kernels.threads import in_threads
from shoal.kernels.uniques import Uniques
from shoal.progress import Hook, Progress, silent
from shoal.subsets import SubsetCounts
from shoal.table.missing import Missing
from shoal.table.table import Table

MOST_COLUMNS = 16  # maximum number of columns for which all subsets are counted
MOST_WORK = 1 << 32  # maximum of rows times subsets
FEWEST_ORDERS, MOST_ORDERS = 32, 2048  # number of random orders otherwise; each is also used in reverse
FEWEST_DRAWN = 4
_ROWS = 50_000_000  # approximate number of rows to process in all random orders


@dataclass(frozen=True, slots=True)
class Key:
    """Set of columns that makes a ``share`` of all individuals unique.

    Keys of :meth:`ShapleyValues.keys` are minimal: without any one of the columns, the requested share is not reached.
    ``distinction``: the number of distinct combinations divided by the number of individuals. ``separation``: the share
    of pairs of individuals that the columns distinguish.
    """

    columns: tuple[str, ...]
    share: float
    distinction: float | None = None
    separation: float | None = None


@dataclass(frozen=True, eq=False)
class ShapleyValues:
    """Contribution of each column to the share of unique individuals.

    ``shares[name]``: the Shapley value of each column. ``errors``: their standard errors, 0 if every subset was
    counted. ``by_number[n]``: the share of unique individuals if n columns are known, averaged over the choices of n
    columns. ``orders``: the number of random column orders; None if every subset was counted.
    """

    names: tuple[str, ...]
    shares: dict[str, float]
    errors: dict[str, float]
    by_number: tuple[float, ...]
    persons: int
    orders: int | None
    counts: NDArray[np.int64] | None

    @property
    def exact(self) -> bool:
        """Whether every subset was counted."""
        return self.counts is not None

    @property
    def total(self) -> float:
        """The share of unique individuals if all columns are known."""
        return self.by_number[-1]

    def keys(self, share: float = 0.9) -> list[Key]:
        """Return all minimal sets of columns that make at least ``share`` of the individuals unique, smallest first.

        The list is empty if not every subset was counted.

        >>> import shoal
        >>> table = shoal.read({"age": [30, 31, 32, 32], "sex": ["f", "f", "f", "m"], "eye": ["b", "b", "b", "b"]})
        >>> [key.columns for key in contribution(rows_of(table, table.names), table.names).keys(1.0)]
        [('age', 'sex')]
        """
        if self.counts is None:
            return []
        wide = self.counts >= share * self.persons
        minimal = wide.copy()
        subsets = np.arange(len(wide))
        for place in range(len(self.names)):
            has = (subsets >> place & 1).astype(bool)
            minimal[has] &= ~wide[subsets[has] ^ (1 << place)]
        keys = [
            Key(
                tuple(name for place, name in enumerate(self.names) if subset >> place & 1),
                float(self.counts[subset] / self.persons),
            )
            for subset in np.flatnonzero(minimal).tolist()
        ]
        return sorted(keys, key=lambda key: (len(key.columns), -key.share, key.columns))


def rows_of(table: Table, names: Sequence[str]) -> Rows:
    """Return the distinct rows of some columns, with the persons who have them."""
    return SubsetCounts.of(table, names, missing=Missing.OWN, budget=0).rows


def contribution(
    rows: Rows, names: Sequence[str], *, orders: int | None = None, seed: int = 0, progress: Hook = silent
) -> ShapleyValues:
    """Return the Shapley value of each column, estimated from random column orders if there are many columns or rows.

    ``rows``: the distinct rows of the columns ``names``, as returned by :func:`rows_of`. ``orders``: the number
    of random orders. By default it increases as the number of rows decreases.

    >>> import shoal
    >>> table = shoal.read({"age": [30, 31, 32, 32], "sex": ["f", "f", "f", "m"], "eye": ["b", "b", "b", "b"]})
    >>> found = contribution(rows_of(table, table.names), table.names)
    >>> {name: round(share, 3) for name, share in found.shares.items()}, found.by_number
    ({'age': 0.625, 'sex': 0.375, 'eye': 0.0}, (0.0, 0.25, 0.5833333333333334, 1.0))
    """
    if orders is not None and orders < FEWEST_DRAWN:
        raise ModelError("too-few-draws", "At least {fewest} orders must be drawn.", fewest=FEWEST_DRAWN)
    persons = int(rows.weights.sum())
    few = len(names) <= MOST_COLUMNS and len(rows) << len(names) <= MOST_WORK
    if few:
        return _counted(tuple(names), rows, persons)
    if orders is None:
        orders = min(max(_ROWS // max(len(rows), 1), FEWEST_ORDERS), MOST_ORDERS)
    rng = np.random.default_rng(seed)
    draws = _Draws(rows, [rng.permutation(len(names)) for _ in range(max(orders // 2, 2))])
    return _drawn(tuple(names), draws, persons, progress)


def _counted(names: tuple[str, ...], rows: Rows, persons: int) -> ShapleyValues:
    counts = Uniques(rows).of_all()
    shares = counts / max(persons, 1)
    subsets, number = np.arange(len(counts)), len(names)
    sizes = np.bitwise_count(subsets).astype(np.intp)
    weights = np.array([1 / (number * comb(number - 1, size)) for size in range(number)])
    values = {}
    for place, name in enumerate(names):
        without = subsets[(subsets >> place & 1) == 0]
        gains = shares[without | 1 << place] - shares[without]
        values[name] = float((weights[sizes[without]] * gains).sum())
    by_number = np.bincount(sizes, shares) / np.bincount(sizes)
    return ShapleyValues(names, values, dict.fromkeys(names, 0.0), tuple(by_number.tolist()), persons, None, counts)


class _Draws:
    """Random column orders and the gain of each column in each order; an order and its reverse form one draw."""

    def __init__(self, rows: Rows, orders: list[NDArray[np.intp]]) -> None:
        self.rows, self.orders = rows, orders
        self.gains = np.zeros((len(orders), len(rows.columns)))
        self.known = np.zeros((len(orders), len(rows.columns) + 1))

    def look(self, draw: int) -> None:
        uniques = Uniques(self.rows)
        for order in (self.orders[draw], self.orders[draw][::-1]):
            counts = uniques.in_order(order.tolist())
            self.gains[draw, order] += np.diff(counts) / 2
            self.known[draw] += counts / 2


def _drawn(names: tuple[str, ...], draws: _Draws, persons: int, progress: Hook) -> ShapleyValues:
    number = len(draws.orders)

    def report_steps(done: int, total: int) -> None:
        progress(Progress("computing contributions to uniqueness", done, total))

    in_threads(draws.look, range(number), 2, report_steps)
    means, by_number = draws.gains.mean(axis=0) / persons, draws.known.mean(axis=0) / persons
    errors = draws.gains.std(axis=0, ddof=1) / np.sqrt(number) / persons
    return ShapleyValues(
        names,
        dict(zip(names, means.tolist(), strict=True)),
        dict(zip(names, errors.tolist(), strict=True)),
        tuple(by_number.tolist()),
        persons,
        2 * number,
        None,
    )
