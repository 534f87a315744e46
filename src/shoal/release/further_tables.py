"""Further tables of a release in several tables, as its manifest names them."""

import json

from shoal.fileset import MANIFEST, sha256
from shoal.table.reading import read
from shoal.table.table import Table


def further_tables(released: Table) -> tuple[tuple[Table, ...], str | None]:
    """Return the further tables of a released file, and the column that links them.

    None if the file has no manifest, or is not in several tables.
    """
    if len(released.source.files) != 1:
        return (), None
    (path,) = released.source.files
    try:
        manifest = json.loads(path.with_name(f"{path.name}{MANIFEST}").read_text(encoding="utf-8"))
        is_split = "split" in manifest and manifest["file_sha256"] == sha256(path)
        names = [str(name) for name in manifest["files"]] if is_split else []
        link = str(manifest["split"]["link"]) if is_split else None
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return (), None
    return tuple(read(path.parent / name) for name in names), link
