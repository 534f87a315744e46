"""Linked columns: what one says, another says in other words — age and year of birth, a code and its text.

A linked column follows its leader: records that show the same of the leader show the same of the follower, the lowest
node of its hierarchy that covers all they had. So it cannot tell anybody more about a person than the leader does.
"""

import numpy as np

from shoal.engines.protocol import DistinctRows
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.translation import Codes, narrowest
from shoal.recoding.nodes import Domain
from shoal.recoding.recoding import Recoding
from shoal.release.columns import labelled
from shoal.search.ladder import Ladder
from shoal.table.column import Column
from shoal.table.table import Table
from shoal.treatments.axis import TreeAxis


def followed(
    table: Table, rows: DistinctRows, recoding: Recoding, leader: str, hierarchy: Hierarchy
) -> tuple[Column, Codes]:
    """Return what the rows of a recoding show in the column of a hierarchy, which follows another one.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind_all
    >>> table = shoal.read({"age": [31, 34, 71], "born": [1990, 1987, 1950]})
    >>> widths = {"kind": "interval", "widths": [10, 20]}
    >>> ladders = bind_all({"age": widths, "born": widths}, table)
    >>> recoding = Recoding.of_scheme(table, ladders, {"age": 1})
    >>> column, codes = followed(table, table.distinct(["age"]), recoding, "age", ladders["born"])
    >>> column.labels().take(codes.tolist()).to_pylist()
    ['1980-1999', '1980-1999', '1950']
    """
    lead, follower = recoding[leader], hierarchy.column
    shown = table.engine.expand(rows, lead.shown).astype(np.intp)
    kept = np.flatnonzero(~table.engine.expand(rows, recoding.suppressed))
    codes = table.codes(follower)
    axis = TreeAxis(Domain.of(table[follower], hierarchy), Ladder.of(hierarchy))
    low, high = np.full(lead.width, np.iinfo(np.uint32).max, np.uint32), np.zeros(lead.width, np.uint32)
    some = np.zeros(lead.width, codes.dtype)
    np.minimum.at(low, shown[kept], axis.places[codes[kept]])
    np.maximum.at(high, shown[kept], axis.places[codes[kept]])
    some[shown[kept]] = codes[kept]
    used = np.zeros(lead.width, bool)
    used[shown[kept]] = True
    low[~used] = 0
    nodes, of_node = axis.cells(low, high, np.arange(lead.width), some)
    made, place = labelled(follower, [*table[follower].labels().to_pylist(), *nodes.labels])
    return made, place.astype(narrowest(max(made.size, 1)))[of_node[lead.shown]]
