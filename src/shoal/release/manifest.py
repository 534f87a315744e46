"""Two manifests: one that stays with the owner and lets the release be made again, one that may go out with it."""

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.table.table import Table


def fingerprint(table: Table) -> str:
    """Return a hash of what a table holds: names, values and every record, in its order.

    >>> import shoal
    >>> fingerprint(shoal.read({"x": [1, 2]})) == fingerprint(shoal.read({"x": [2, 1]}))
    False
    """
    found = hashlib.sha256()
    for column in table.columns:
        head = {"name": column.name, "kind": str(column.kind), "values": column.labels().to_pylist()}
        found.update(json.dumps(head, ensure_ascii=False, sort_keys=True).encode())
        for (codes,) in table.engine.chunks([column.name], 1 << 20):
            found.update(codes.astype("<u4").tobytes())
    return found.hexdigest()


def plain(value: Any) -> Any:
    """Return something as JSON holds it; fractions as text, which loses nothing."""
    if isinstance(value, Mapping):
        return {str(key): plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(held) for held in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value


def written(manifest: Mapping[str, Any]) -> str:
    """Return a manifest as text: the same content, the same bytes."""
    return json.dumps(plain(manifest), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
