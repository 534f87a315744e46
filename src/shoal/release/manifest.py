"""Manifests as JSON, and recognition of a release by its internal manifest."""

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.fileset import owner_folder, sha256
from shoal.policy.policy import Policy
from shoal.table.table import Table


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


def is_release(table: Table, policy: Policy) -> bool:
    """Return whether a table was read from a file that ``anonymize`` released under a policy, as its owner recorded."""
    if len(table.source.files) != 1:
        return False
    path = table.source.files[0]
    try:
        internal = json.loads((owner_folder(path) / "internal.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(internal, dict) or internal.get("file_sha256") != sha256(path):
        return False
    return bool(internal.get("policy") == json.loads(written(policy.document())))


def written(manifest: Mapping[str, Any]) -> str:
    """Return a manifest as text: the same content, the same bytes."""
    return json.dumps(plain(manifest), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
