"""Writing TOML, as far as policies need it; reading is done by the standard library."""

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def key(name: str) -> str:
    """Return how a name is written as a key.

    >>> print(key("age"), key("age at admission"))
    age "age at admission"
    """
    return name if _BARE.fullmatch(name) else value(name)


def value(given: Any) -> str:
    """Return how a value is written on one line.

    >>> print(value({"kind": "interval", "widths": [5.0, 10.0]}))
    { kind = "interval", widths = [5, 10] }
    """
    if isinstance(given, Mapping):
        return "{ " + ", ".join(f"{key(name)} = {value(held)}" for name, held in given.items()) + " }"
    if isinstance(given, list | tuple):
        return f"[{', '.join(map(value, given))}]"
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, float) and given.is_integer():
        return str(int(given))
    if isinstance(given, str):  # JSON's escapes are TOML's, but for one character that JSON does not escape
        return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(given)
