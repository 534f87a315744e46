"""Two manifests: one that stays with the owner and lets the release be made again, one that may go out with it."""

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.disclosure import enclosing, hidden, hides


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


def told(public: Mapping[str, Any], least: int, persons: int) -> dict[str, Any]:
    """Return a manifest that may go out: numbers of fewer persons than ``least`` are in it only as that.

    If so few were left out, moved or given company, what was measured would tell how many: it is not in it, or coarse.

    >>> given = {"suppressed": 1, "quality": {"loss": {"value": 0.0123, "cost": 0.0123}}, "requirements": []}
    >>> told(given, 11, 99)["suppressed"], told(given, 11, 99)["quality"]
    ('fewer than 11', {'loss': {'cost_between': [0.0, 0.1111111111111111]}})
    """
    held, outliers = dict(public), dict(public.get("outliers", {}))
    numbers = {name: public.get(name, 0) for name in ("suppressed", "suppressed_records")}
    numbers |= {name: held for name, held in outliers.items() if isinstance(held, int)}
    few = {name for name, number in numbers.items() if hides(int(number), least)}
    if few:
        held |= {name: f"fewer than {least}" for name in few if name in public}
        held["outliers"] = {name: f"fewer than {least}" if name in few else one for name, one in outliers.items()}
        held["outliers"].pop("displacement", None)
        held["requirements"] = [_judged(one) for one in public["requirements"]]
        held["quality"] = {
            name: {"cost_between": list(enclosing(one["cost"], persons, least))}
            for name, one in public["quality"].items()
        }
        held["quality"].pop("squared-error", None)  # one person can weigh more in it than all others
    levels = public.get("records_on_levels", {})
    held["records_on_levels"] = {
        name: ["not told" if hide else number for number, hide in zip(counts, hidden(counts, least), strict=True)]
        for name, counts in levels.items()
    }
    return held


def _judged(requirement: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether a requirement is met, and no more: shares are of the original."""
    return {name: said for name, said in requirement.items() if name != "value"}


def written(manifest: Mapping[str, Any]) -> str:
    """Return a manifest as text: the same content, the same bytes."""
    return json.dumps(plain(manifest), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
