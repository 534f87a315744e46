"""Origins: which record each released one was, as who made the release knows it, also later and from its files.

They are kept beside the owner's manifest. They hold for the table that they were taken from, record by record in its
order, and for the file that was written; for any other, records are matched by what can be seen.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines.memory import MemoryEngine
from shoal.fileset import owner_folder, sha256
from shoal.recoding.matching import Match
from shoal.table.table import Table

MOST = 10_000_000  # records of which it is kept: some tens of megabytes


def document(given: Table, origins: Callable[[], NDArray[np.integer[Any]]]) -> dict[str, Any] | None:
    """Return what is kept: which record of the given table each released one was; None if that would be too much."""
    if not isinstance(given.engine, MemoryEngine) or given.records > MOST:
        return None
    packed = zlib.compress(origins().astype("<i4").tobytes(), 9)
    return {"of": _in_order(given), "records": base64.b64encode(packed).decode()}


def kept_match(original: Table, release: Table) -> Match | None:
    """Return what was kept, if it is there and is about these two tables."""
    if len(release.source.files) != 1 or not isinstance(original.engine, MemoryEngine):
        return None
    kept = _kept(release.source.files[0])
    if kept is None or kept["of"] != _in_order(original):
        return None
    try:
        origins = np.frombuffer(zlib.decompress(base64.b64decode(kept["records"])), "<i4")
    except (ValueError, zlib.error):
        return None
    if len(origins) != release.records or origins.max(initial=-1) >= original.records:
        return None
    became, real = np.full(original.records, -1, np.int64), np.flatnonzero(origins >= 0)
    became[origins[real]] = real
    return Match.of(became, release, "as they were released")


def _kept(path: Path) -> Mapping[str, Any] | None:
    """Return the origins that are kept of a released file."""
    try:
        kept = json.loads((owner_folder(path) / "origins.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    known = isinstance(kept, dict) and {"of", "records", "file_sha256"} <= set(kept)
    return kept if known and kept["file_sha256"] == sha256(path) else None


def _in_order(table: Table) -> str:
    """Return a hash of what a table holds, record by record."""
    found = hashlib.sha256(f"{table.records}".encode())
    for column in sorted(table.columns, key=lambda column: column.name):
        head = [column.name, str(column.kind), column.labels().to_pylist()]
        found.update(json.dumps(head, ensure_ascii=False).encode())
        found.update(np.ascontiguousarray(table.codes(column.name), "<u4").tobytes())
    return found.hexdigest()
