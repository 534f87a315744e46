"""Two manifests: one that stays with the owner and lets the release be made again, one that may go out with it."""

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.disclosure import coarse, hidden, hides
from shoal.table.table import Table

USUAL = 11  # persons that are told of at least, where no k is required


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


def told(public: Mapping[str, Any], least: int) -> dict[str, Any]:
    """Return a manifest that may go out: numbers of fewer persons than ``least`` are in it only as that.

    >>> told({"records": 99, "suppressed": 1, "quality": {"loss": {"value": 0.0123, "cost": 0.0123}}}, 11)["suppressed"]
    'fewer than 11'
    """
    held, persons = dict(public), int(public["records"])
    few = any(hides(int(public.get(name, 0)), least) for name in ("suppressed", "suppressed_records"))
    for name in ("suppressed", "suppressed_records"):
        if name in public and few:
            held[name] = f"fewer than {least}"
    if few:
        held["quality"] = {
            name: {"cost": coarse(one["cost"], persons, least)} for name, one in public["quality"].items()
        }
    levels = public.get("records_on_levels", {})
    held["records_on_levels"] = {
        name: ["not told" if hide else number for number, hide in zip(counts, hidden(counts, least), strict=True)]
        for name, counts in levels.items()
    }
    return held


def written(manifest: Mapping[str, Any]) -> str:
    """Return a manifest as text: the same content, the same bytes."""
    return json.dumps(plain(manifest), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
