"""Linked columns: what one says, another says in other words — age and year of birth, a code and its text.

A linked column follows its leader: records that show the same of the leader show the same of the follower, a node of
its hierarchy that covers all they had. It is as high up in its hierarchy as the leader's is in its own, or higher.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.tallying import RowPlaces
from shoal.kernels.translation import Codes, narrowest
from shoal.recoding.nodes import Domain, Nodes
from shoal.recoding.recoding import Recoded, Recoding
from shoal.release.columns import labelled
from shoal.search.ladder import Ladder
from shoal.table.column import Column
from shoal.table.table import Table
from shoal.techniques.axis import TreeAxis


def followed(  # noqa: PLR0913 - what is followed, by what, and who is left out of it
    table: Table,
    rows: DistinctRows,
    recoding: Recoding,
    leader: str,
    hierarchy: Hierarchy,
    *,
    moved: NDArray[np.bool_] | None = None,
) -> tuple[Column, Codes]:
    """Return what the rows of a recoding show in the column of a hierarchy, which follows another one.

    ``moved``: rows that show what others are, and say nothing about the follower.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind_all
    >>> table = shoal.read({"age": [31, 34, 71], "born": [1990, 1987, 1950]})
    >>> widths = {"kind": "interval", "widths": [10, 20]}
    >>> ladders = bind_all({"age": widths, "born": widths}, table)
    >>> recoding = Recoding.of_scheme(table, ladders, {"age": 1})
    >>> column, codes = followed(table, table.distinct(["age"]), recoding, "age", ladders["born"])
    >>> column.labels().take(codes.tolist()).to_pylist()
    ['1980-1999', '1980-1999', '1950-1959']
    """
    lead, follower = recoding[leader], hierarchy.column
    silent = recoding.suppressed if moved is None else recoding.suppressed | moved
    of_row, codes = _pairs(table, rows, follower)
    shown = lead.shown[of_row].astype(np.intp)
    kept = np.flatnonzero(~silent[of_row])
    axis = TreeAxis(Domain.of(table[follower], hierarchy), Ladder.of(hierarchy))
    low, high = np.full(lead.width, np.iinfo(np.uint32).max, np.uint32), np.zeros(lead.width, np.uint32)
    some = np.zeros(lead.width, codes.dtype)
    np.minimum.at(low, shown[kept], axis.places[codes[kept]])
    np.maximum.at(high, shown[kept], axis.places[codes[kept]])
    some[shown[kept]] = codes[kept]
    used = np.zeros(lead.width, bool)
    used[shown[kept]] = True
    low[~used] = 0
    nodes, of_code = Nodes.on_levels(axis.domain, hierarchy)
    levels = np.maximum(axis.levels(low, high), _least_levels(lead, hierarchy.height))
    of_node = of_code[np.where(used, levels, hierarchy.height), some]
    released, place = labelled(follower, [*table[follower].labels().to_pylist(), *nodes.labels])
    return released, place.astype(narrowest(max(released.size, 1)))[of_node[lead.shown]]


def _pairs(table: Table, rows: DistinctRows, follower: str) -> tuple[NDArray[np.integer], Codes]:
    """Return which values of the follower records of each row have: pairs of a row and a code."""
    if rows.origin is not None:  # records are at hand
        return rows.origin, table.codes(follower)
    pairs = table.distinct((*rows.columns, follower))
    places = RowPlaces([table[name].size for name in rows.columns])
    places.of(rows.codes)
    return places.of(pairs.codes[:-1]), pairs.codes[-1]


def _least_levels(lead: Recoded, height: int) -> NDArray[np.int64]:
    """Return how high up a follower must be for each set that the leader may show."""
    nodes = lead.nodes
    share = np.where(nodes.lost, 1.0, nodes.levels / max(nodes.domain.height or 1, 1))
    levels = np.maximum(np.ceil(share * height - 1e-9), 1).astype(np.int64)
    levels[: nodes.domain.codes] = 0
    return np.minimum(levels, height)
