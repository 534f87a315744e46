"""Origins: which record each released one was, as who made the release knows it, also later and from its files.

They are kept beside the owner's manifest. They hold for the table that they were taken from, record by record in its
order, and for the file that was written; for any other, records are matched by what can be seen.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines.memory import MemoryEngine
from shoal.fileset import owner_folder, sha256
from shoal.recoding.matching import Match
from shoal.table.table import Table

MOST = 10_000_000  # records of which it is kept: some tens of megabytes


@dataclass(frozen=True, slots=True, eq=False)
class Origins:
    """``records[i]``: which record of the original released record i was, −1 if it is invented.

    ``drawn``: the records of the original that were drawn, if not all.
    """

    records: NDArray[np.integer[Any]]
    drawn: NDArray[np.integer[Any]] | None = None

    def document(self, given: Table) -> dict[str, Any]:
        """Return what is kept of them."""
        sample = {} if self.drawn is None else {"drawn": _packed(self.drawn)}
        return {"of": _in_order(given), "records": _packed(self.records), **sample}

    def match(self, original: Table, release: Table) -> Match:
        """Return which released record each original one has become."""
        became, real = np.full(original.records, -1, np.int64), np.flatnonzero(self.records >= 0)
        became[self.records[real]] = real
        return Match.of(became, release, "as they were released")


def can_be_kept(given: Table) -> bool:
    """Tell whether the records of a table have an order, and are not too many."""
    return isinstance(given.engine, MemoryEngine) and given.records <= MOST


def kept_origins(original: Table, release: Table) -> Origins | None:
    """Return what was kept of a release, if it is there and is about these two tables."""
    if len(release.source.files) != 1 or not can_be_kept(original):
        return None
    kept = _kept(release.source.files[0])
    if kept is None or kept["of"] != _in_order(original):
        return None
    try:
        found = Origins(_unpacked(kept["records"]), _unpacked(kept["drawn"]) if "drawn" in kept else None)
    except (ValueError, TypeError, zlib.error):
        return None
    fits = len(found.records) == release.records and found.records.max(initial=-1) < original.records
    return found if fits else None


def _packed(numbers: NDArray[np.integer[Any]]) -> str:
    return base64.b64encode(zlib.compress(numbers.astype("<i4").tobytes(), 9)).decode()


def _unpacked(text: str) -> NDArray[np.integer[Any]]:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), "<i4")


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
