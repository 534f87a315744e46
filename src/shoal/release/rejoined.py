"""Rejoined tables: the tables of a release, joined again record by record, which only its owner can do."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.errors import RecodingError
from shoal.recoding.matching import Match
from shoal.release.origins import Origins, kept_origins
from shoal.release.release import Release
from shoal.table.raw import Encoded
from shoal.table.table import Table


def divided(original: Table, tables: Sequence[Table]) -> bool:
    """Return whether the quasi-identifiers of an original are in several tables of its release."""
    return any(name in table for table in tables[1:] for name in original.quasi)


def rejoined(original: Table, release: Release | Table, tables: Sequence[Table]) -> tuple[Table, Match]:
    """Return the records of a release whose quasi-identifiers are in several ``tables``, and their match.

    The records are joined by the origins that ``anonymize`` recorded for its owner. Sensitive columns are omitted: the
    release does not tell which of their values is whose.
    """
    names = [name for table in tables for name in table.names if name not in original.sensitive]
    if isinstance(release, Release) and release.part.whole_origins is not None:
        whole = release.part.promise.whole.in_memory()
        joined = whole.only([name for name in whole.names if name in names and name != release.link])
        origins = Origins(release.part.whole_origins(), release.part.drawn)
        return joined, origins.match(original, joined)
    kept = kept_origins(original, tables[0])
    if kept is None or len(kept.further) != len(tables) - 1:
        raise RecodingError(
            "divided-identities",
            "The quasi-identifiers are in several tables of the release, whose records only its owner can join.",
            remedy="Keep the owner's folder beside the release, or measure the error of counts: shoal query-error.",
        )
    joined = joined_by_origins(original, tables, kept)
    joined = joined.only([name for name in joined.names if name in original and name not in original.sensitive])
    return joined, replace(kept, further={}).match(original, joined)


def joined_by_origins(original: Table, tables: Sequence[Table], kept: Origins) -> Table:
    """Return the records of a release in several tables, which recorded origins join, with all columns.

    Sensitive values are those of the original: a release in several tables does not change them.
    """
    first, *others = (table.in_memory() for table in tables)
    columns = {name: Encoded(first[name], first.codes(name)) for name in first.names}
    for table, records in zip(others, kept.further.values(), strict=len(kept.further) > 0):
        place = np.zeros(original.records, np.int64)
        place[records] = np.arange(len(records))
        at = place[kept.records]
        columns = {**{name: Encoded(table[name], table.codes(name)[at]) for name in table.names}, **columns}
    apart = [name for name in original.sensitive if any(name in table for table in others)]
    values = original.only(apart).in_memory()
    columns.update({name: Encoded(values[name], values.codes(name)[kept.records]) for name in apart})
    names = [*(name for name in original.names if name in columns), *(name for name in columns if name not in original)]
    return Table.of([columns[name] for name in names], first.records, first.source)
