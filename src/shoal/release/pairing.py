"""Pairing: which released record is which original one, as far as anybody can know."""

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.errors import RecodingError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.recoding.matching import Match, match
from shoal.release.origins import Origins, kept_origins
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
    """Tell which released record is which: as it was made, by a key, by what records show, last by position."""
    known = None if key is not None or in_order else _origins(original, release)
    if known is not None:
        return known.match(original, _table(release))
    return match(original, _table(release), key, hierarchies=hierarchies, in_order=in_order)


def drawn_from(original: Table, release: Table | Release, match: Match) -> tuple[Table, Match]:
    """Return the records of the original that a release is a sample of, where that is known, and which is which."""
    known = _origins(original, release)
    if known is None or known.drawn is None or match.rows is None:
        return original, match
    table, records = taken(original, known.drawn.astype(np.intp))
    return table, Match.of(match.rows[records], _table(release), f"{match.how}; only the drawn ones count", match.key)


def _origins(original: Table, release: Table | Release) -> Origins | None:
    if not isinstance(release, Release):
        return kept_origins(original, release)
    if original.records <= int(release.records.max(initial=-1)):
        raise RecodingError("The release was made from another table: it has records that this one does not have.")
    return Origins(release.records, release.drawn)


def _table(release: Table | Release) -> Table:
    return release.table.held() if isinstance(release, Release) else release
