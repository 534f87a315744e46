"""Linked columns: columns with the same information, such as age and year of birth, or a code and its text.

A linked column follows its leader. Records that share the released value of the leader also share that of the follower:
a node of the follower's hierarchy that covers all their values. The relative level of this node is at least that of the
leader's node.
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


def followed(  # noqa: PLR0913 - table, rows, leader and follower
    table: Table,
    rows: DistinctRows,
    recoding: Recoding,
    leader: str,
    hierarchy: Hierarchy,
    *,
    moved: NDArray[np.bool_] | None = None,
) -> tuple[Column, Codes]:
    """Return the released column of a follower, and its code for each row of a recoding.

    ``hierarchy``: the hierarchy of the follower. ``moved``: rows that show the values of other rows; their own values
    are not taken into account.

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
    """Return the values of the follower in the records of each row, as pairs of a row and a code."""
    if rows.origin is not None:  # the row of each record is known
        return rows.origin, table.codes(follower)
    pairs = table.distinct((*rows.columns, follower))
    places = RowPlaces([table[name].size for name in rows.columns])
    places.of(rows.codes)
    return places.of(pairs.codes[:-1]), pairs.codes[-1]


def _least_levels(lead: Recoded, height: int) -> NDArray[np.int64]:
    """Return the lowest admissible level of the follower for each node of the leader."""
    nodes = lead.nodes
    share = np.where(nodes.lost, 1.0, nodes.levels / max(nodes.domain.height or 1, 1))
    levels = np.maximum(np.ceil(share * height - 1e-9), 1).astype(np.int64)
    levels[: nodes.domain.codes] = 0
    return np.minimum(levels, height)
