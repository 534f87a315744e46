"""Pairing of the records of a release with those of its original."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from shoal.hierarchy.hierarchy import Hierarchy
from shoal.recoding.matching import Match, match
from shoal.release.origins import Origins, is_same, kept_origins
from shoal.release.release import Release
from shoal.release.sampling import taken
from shoal.table.table import Table


def which(
    original: Table,
    release: Table | Release,
    key: Sequence[str] | None = None,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    in_order: bool = False,
) -> Match:
    """Match records by the origins that ``anonymize`` recorded; without these, or with a key, as ``match`` does."""
    origins = _origins(original, release)
    if origins is not None and key is None and not in_order:
        return origins.match(original, _table(release))
    matched = match(original, _table(release), key, hierarchies=hierarchies, in_order=in_order)
    return matched if origins is None else replace(matched, drawn=origins.drawn, recorded=True)


def drawn_from(original: Table, match: Match) -> tuple[Table, Match]:
    """Return the sampled records of the original, if the release is a sample, and their match."""
    if match.drawn is None or match.rows is None:
        return original, match
    table, records = taken(original, match.drawn.astype(np.intp))
    return table, replace(match, rows=match.rows[records], how=f"{match.how}; sampled records only", drawn=None)


def _origins(original: Table, release: Table | Release) -> Origins | None:
    """Return the recorded origins; None if they were recorded for another original."""
    if not isinstance(release, Release):
        return kept_origins(original, release)
    return Origins(release.records, release.part.drawn) if is_same(original, release.given) else None


def _table(release: Table | Release) -> Table:
    if not isinstance(release, Release):
        return release
    return release.first.in_memory()
