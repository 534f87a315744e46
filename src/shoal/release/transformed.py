"""The transformed table: what every record shows, in an order that tells nothing."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows
from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes, narrowest
from shoal.recoding.recoding import Recoded, Recoding
from shoal.release.columns import compacted, labelled
from shoal.release.pseudonyms import pseudonymous
from shoal.release.representative import represented
from shoal.table.about import About
from shoal.table.column import Column
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
    """``table``: what goes out. ``records[i]``: which record of the original its record i was; −1: it is invented.

    ``left_out``: columns of the original that do not go out, and why.
    """

    table: Table
    records: NDArray[np.intp]
    left_out: Mapping[str, str]


def shown_by(
    recoding: Recoding,
    how: Mapping[str, str] | None = None,
    persons: NDArray[np.int64] | None = None,
    least: int = 1,
) -> dict[str, tuple[Column, Codes]]:
    """Return for each quasi-identifier what the rows of a recoding show: values as they are, or labels of sets.

    ``how``: columns that show the mean, midpoint, median or mode of a class instead of a label, in which every row
    counts for its ``persons``; for its records, if nothing is said. A mean is that of ``least`` persons or more.

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
        column.name: represented(recoding, column.name, chosen[column.name], persons, least)
        if column.name in chosen
        else _shown(column, kept)
        for column in recoding.of_quasi
    }


def _shown(recoded: Recoded, kept: NDArray[np.intp]) -> tuple[Column, Codes]:
    column, at = recoded.domain.column, recoded.shown
    if (at[kept] < column.size).all():  # nothing but values as they were: they keep their type
        return column, np.where(at < column.size, at, 0).astype(narrowest(max(column.size, 1)))
    made, places = labelled(column.name, [*column.labels().to_pylist(), *recoded.nodes.labels])
    return made, places.astype(narrowest(max(made.size, 1)))[at]


@dataclass(frozen=True, slots=True, eq=False)
class Counterfeits:
    """Records that are invented: ``rows``: which distinct rows they look like. All else is drawn, column by column."""

    rows: NDArray[np.int64]
    seed: int = 0

    def drawn(self, table: Table, name: str, kept: NDArray[np.intp]) -> Codes:
        """Draw values of a column the way they are distributed among the records that are kept."""
        if not len(self.rows):
            return table.codes(name)[:0]
        rng = np.random.default_rng([self.seed, table.names.index(name)])
        return table.codes(name)[kept[rng.integers(0, len(kept), len(self.rows))]]


NONE = Counterfeits(np.zeros(0, np.int64))


def transformed(  # noqa: PLR0913 - a table, what becomes of its rows, and of its columns
    table: Table,
    rows: DistinctRows,
    shown: Mapping[str, tuple[Column, Codes]],
    suppressed: NDArray[np.bool_],
    *,
    counterfeits: Counterfeits = NONE,
    keys: Mapping[str, bytes] | None = None,
) -> Transformed:
    """Write out what distinct rows show; suppressed ones are left out. ``rows`` are those of the quasi-identifiers.

    ``keys``: columns that get pseudonyms, and with which key.
    """
    kept = np.flatnonzero(~table.engine.expand(rows, suppressed))
    keys = keys or {}
    left_out = {name: why for name in table.names if name not in keys and (why := _why_not(table, name)) is not None}
    columns: list[tuple[Column, Codes]] = []
    for name in table.names:
        if name in left_out:
            continue
        if name in shown:
            column, of_row = shown[name]
            codes = np.concatenate([table.engine.expand(rows, of_row)[kept], of_row[counterfeits.rows]])
        elif name in keys:
            held = np.concatenate([table.codes(name)[kept], np.zeros(len(counterfeits.rows), table.codes(name).dtype)])
            column, codes = pseudonymous(table[name], held, keys[name], len(counterfeits.rows))
        else:
            column, codes = (
                table[name],
                np.concatenate([table.codes(name)[kept], counterfeits.drawn(table, name, kept)]),
            )
        columns.append(compacted(column, codes))
    records = np.concatenate([kept, np.full(len(counterfeits.rows), -1)])
    alike = group_rows([codes for _, codes in columns], [column.size for column, _ in columns], len(records))
    order = np.argsort(alike.ids, kind="stable")
    encoded = [Encoded(column, np.ascontiguousarray(codes[order])) for column, codes in columns]
    about = {held.column.name: _about(held.column, table) for held in encoded if held.column.name in table.source.about}
    before = table.source
    made = Table.of(encoded, len(records), Source(before.origin, before.frame, before.details, about=about))
    roles = {
        name: Role.INSENSITIVE if name in keys else role for name, role in table.roles.items() if name not in left_out
    }
    return Transformed(made.assign(**_by_role(roles)), records[order], left_out)


def _by_role(roles: Mapping[str, Role]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, role in roles.items():
        found.setdefault(role, []).append(name)
    return found


def _why_not(table: Table, name: str) -> str | None:
    role = table.roles.get(name)
    return "the policy gives it no role" if role is None else _LEFT_OUT.get(role)


def _about(column: Column, table: Table) -> About:
    """Return what is said about a released column: no label of a value that it does not show."""
    said = table.source.about[column.name]
    return said.of(column.values.to_pylist()) if said.values else said
