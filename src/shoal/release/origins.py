"""Origins: the original record of each released record, stored with the owner's files of a release.

Stored origins apply to the original table in its order and to the released file, both identified by a hash. Any other
pair of tables is matched by key, content or position.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines.memory import MemoryEngine
from shoal.recoding.matching import Match
from shoal.release.fingerprint import fingerprint
from shoal.release.manifest import kept_document
from shoal.table.table import Table

MOST = 10_000_000  # records; their origins take some tens of megabytes


@dataclass(frozen=True, slots=True, eq=False)
class Origins:
    """Original records of the released records.

    ``records[i]``: the original record of released record i; −1 for a counterfeit. ``drawn``: the sampled records of
    the original; None if the release is not a sample. ``further``: the original records of the further tables of a
    release in several tables, by the suffix of their name.
    """

    records: NDArray[np.integer[Any]]
    drawn: NDArray[np.integer[Any]] | None = None
    further: Mapping[str, NDArray[np.integer[Any]]] = field(default_factory=dict)

    def document(self, given: Table) -> dict[str, Any]:
        """Return the origins as JSON content, with the hash of the original table."""
        sample = {} if self.drawn is None else {"drawn": _packed(self.drawn)}
        further = {name: _packed(records) for name, records in self.further.items()}
        tables = {"tables": further} if further else {}
        return {"of": _in_order(given), "records": _packed(self.records), **sample, **tables}

    def became(self, records: int) -> NDArray[np.intp]:
        """Return the released record of each of the ``records`` original records; −1 for a suppressed one."""
        released, real = np.full(records, -1, np.intp), np.flatnonzero(self.records >= 0)
        released[self.records[real]] = real
        return released

    def match(self, original: Table, release: Table) -> Match:
        """Match the records of an original with those of its release."""
        match = Match.of(
            self.became(original.records), release, "by the record mapping that anonymize saved", drawn=self.drawn
        )
        return replace(match, recorded=True)


def can_be_kept(given: Table) -> bool:
    """Return whether the origins of a table are stored: its records must be ordered, and at most ``MOST``."""
    return isinstance(given.engine, MemoryEngine) and given.records <= MOST


def is_same(original: Table, given: Table) -> bool:
    """Return whether a table is the original of a release: the same cells, in the same order.

    >>> import shoal
    >>> given, again, moved = (shoal.read({"x": numbers}) for numbers in ([1, 2], [1, 2], [2, 1]))
    >>> is_same(again, given), is_same(moved, given)
    (True, False)
    """
    if original.engine is given.engine:
        return True
    if original.records != given.records or not {*given.names} <= {*original.names}:
        return False
    if not isinstance(given.engine, MemoryEngine) or not isinstance(original.engine, MemoryEngine):
        return fingerprint(original.only(given.names)) == fingerprint(given)
    return all(
        original[name].labels().equals(given[name].labels()) and np.array_equal(original.codes(name), given.codes(name))
        for name in given.names
    )


def kept_origins(original: Table, release: Table) -> Origins | None:
    """Return the stored origins of a released file, or None if there are none for these two tables."""
    kept = kept_document(release, "origins.json") if can_be_kept(original) else None
    if kept is None or kept.get("of") != _in_order(original):
        return None
    try:
        further = {name: _unpacked(records) for name, records in kept.get("tables", {}).items()}
        origins = Origins(_unpacked(kept["records"]), _unpacked(kept["drawn"]) if "drawn" in kept else None, further)
    except (KeyError, ValueError, TypeError, AttributeError, zlib.error):
        return None
    fits = len(origins.records) == release.records and origins.records.max(initial=-1) < original.records
    return origins if fits else None


def _packed(numbers: NDArray[np.integer[Any]]) -> str:
    return base64.b64encode(zlib.compress(numbers.astype("<i4").tobytes(), 9)).decode()


def _unpacked(text: str) -> NDArray[np.integer[Any]]:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), "<i4")


def _in_order(table: Table) -> str:
    """Return a hash of the cells of a table in their order."""
    digest = hashlib.sha256(f"{table.records}".encode())
    for column in sorted(table.columns, key=lambda column: column.name):
        head = [column.name, str(column.kind), column.labels().to_pylist()]
        digest.update(json.dumps(head, ensure_ascii=False).encode())
        digest.update(np.ascontiguousarray(table.codes(column.name), "<u4").tobytes())
    return digest.hexdigest()
