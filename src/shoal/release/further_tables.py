"""Further tables of a release in several tables, as its manifest names them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from shoal.errors import ReleaseError
from shoal.fileset import MANIFEST, sha256
from shoal.table.reading import read
from shoal.table.table import Table


def further_tables(released: Table) -> tuple[tuple[Table, ...], str | None]:
    """Return the further tables of a released file, and the column that links them.

    None if the file has no manifest, or is not in several tables.
    """
    hashes, link = _named(released)
    path = released.source.files[0] if hashes else Path()
    return tuple(read(path.parent / name) for name in hashes), link


def in_order_of_manifest(released: Table, further: Sequence[Table]) -> tuple[Table, ...]:
    """Return further tables in the order of the manifest of a released file; refuse other tables than it names.

    Without a manifest, or if the tables are no files, they are returned as they are.
    """
    hashes, files = [*_named(released)[0].values()], [file for table in further for file in table.source.files]
    if not hashes or len(files) != len(further):
        return tuple(further)
    given = {sha256(file): table for file, table in zip(files, further, strict=True)}
    if given.keys() != {*hashes}:
        raise ReleaseError(
            "other-tables",
            "The given tables are not the {number:further table} that the manifest of '{file}' names.",
            remedy="Omit the further tables: they are found by the manifest.",
            file=released.source.files[0].name,
            number=len(hashes),
        )
    return tuple(given[digest] for digest in hashes)


def _named(released: Table) -> tuple[Mapping[str, str], str | None]:
    """Return the hash of each further table of a release, and the column that links them."""
    if len(released.source.files) != 1:
        return {}, None
    (path,) = released.source.files
    try:
        manifest = json.loads(path.with_name(f"{path.name}{MANIFEST}").read_text(encoding="utf-8"))
        if "split" not in manifest or manifest["file_sha256"] != sha256(path):
            return {}, None
        hashes = {str(name): str(digest) for name, digest in manifest["files"].items()}
        return hashes, str(manifest["split"]["link"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return {}, None
