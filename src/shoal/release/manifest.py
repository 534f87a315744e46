"""Two manifests: one that stays with the owner and lets the release be made again, one that may go out with it."""

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np


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
