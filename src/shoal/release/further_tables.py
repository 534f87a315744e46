"""Further tables of a release in several tables, as its manifest names them."""

import json

from shoal.fileset import MANIFEST, sha256
from shoal.table.reading import read
from shoal.table.table import Table


def further_tables(released: Table) -> tuple[Table, ...]:
    """Return the further tables of a released file; none if it has no manifest, or is not in several tables."""
    if len(released.source.files) != 1:
        return ()
    (path,) = released.source.files
    try:
        manifest = json.loads(path.with_name(f"{path.name}{MANIFEST}").read_text(encoding="utf-8"))
        is_split = "split" in manifest and manifest["file_sha256"] == sha256(path)
        names = [str(name) for name in manifest["files"]] if is_split else []
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return ()
    return tuple(read(path.parent / name) for name in names)
