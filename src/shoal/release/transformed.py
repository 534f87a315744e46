"""The transformed table: what every record shows, in an order that tells nothing."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes, narrowest
from shoal.release.columns import compacted, labelled
from shoal.table.column import SUPPRESSED, Column
from shoal.table.raw import Encoded
from shoal.table.role import Role
from shoal.table.table import Source, Table

_LEFT_OUT = {
    Role.DIRECT: "it identifies persons directly",
    Role.SUBJECT: "it says whose record it is",
    Role.HOUSEHOLD: "it says who lives together",
}


@dataclass(frozen=True, slots=True, eq=False)
class Transformed:
    """``table``: what goes out. ``records[i]``: which record of the original its record i was.

    ``left_out``: columns of the original that do not go out, and why.
    """

    table: Table
    records: NDArray[np.intp]
    left_out: Mapping[str, str]


def on_levels(
    rows: DistinctRows, table: Table, hierarchies: Mapping[str, Hierarchy], scheme: Mapping[str, int]
) -> dict[str, tuple[Column, Codes]]:
    """Return for each column what distinct rows show if every value is replaced by its node on a level."""
    shown = {}
    for name, codes in zip(rows.columns, rows.codes, strict=True):
        level = scheme[name]
        if level == 0 and not _hides(hierarchies[name]):
            shown[name] = (table[name], codes)
            continue
        column, of_node = labelled(name, hierarchies[name].levels[level].labels)
        places = of_node.astype(narrowest(max(column.size, 1)))[hierarchies[name].nodes(level)]
        shown[name] = (column, places[codes])
    return shown


def _hides(hierarchy: Hierarchy) -> bool:
    """Tell whether some values show nothing even on the lowest level."""
    return SUPPRESSED in hierarchy.levels[0].labels


def transformed(
    table: Table, rows: DistinctRows, shown: Mapping[str, tuple[Column, Codes]], suppressed: NDArray[np.bool_]
) -> Transformed:
    """Write out what distinct rows show; suppressed ones are left out. ``rows`` are those of the quasi-identifiers."""
    kept = np.flatnonzero(~table.engine.expand(rows, suppressed))
    left_out = {name: why for name in table.names if (why := _why_not(table, name)) is not None}
    columns: list[tuple[Column, Codes]] = []
    for name in table.names:
        if name in left_out:
            continue
        if name in shown:
            column, of_row = shown[name]
            codes = table.engine.expand(rows, of_row)
        else:
            column, codes = table[name], table.codes(name)
        columns.append(compacted(column, codes[kept]))
    alike = group_rows([codes for _, codes in columns], [column.size for column, _ in columns], len(kept))
    order = np.argsort(alike.ids, kind="stable")
    encoded = [Encoded(column, np.ascontiguousarray(codes[order])) for column, codes in columns]
    made = Table.of(encoded, len(kept), Source(table.source.origin, table.source.frame, table.source.details))
    roles = {name: role for name, role in table.roles.items() if name not in left_out}
    return Transformed(made.assign(**_by_role(roles)), kept[order], left_out)


def _by_role(roles: Mapping[str, Role]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, role in roles.items():
        found.setdefault(role, []).append(name)
    return found


def _why_not(table: Table, name: str) -> str | None:
    role = table.roles.get(name)
    return "the policy gives it no role" if role is None else _LEFT_OUT.get(role)
