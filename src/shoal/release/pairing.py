"""Pairing: which released record is which original one, as far as anybody can know."""

from collections.abc import Mapping, Sequence

from shoal.errors import RecodingError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.recoding.matching import Match, match
from shoal.release.origins import kept_match
from shoal.release.release import Release
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
    if isinstance(release, Release):
        return _as_made(original, release)
    kept = kept_match(original, release) if key is None and not in_order else None
    return kept or match(original, release, key, hierarchies=hierarchies, in_order=in_order)


def _as_made(original: Table, release: Release) -> Match:
    if original.records <= int(release.records.max(initial=-1)):
        raise RecodingError("The release was made from another table: it has records that this one does not have.")
    return Match.of(release.became(original.records), release.table, "as they were released")
