"""Writing TOML, to the extent that policies require, and the errors of the standard library, which reads it."""

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PROBLEMS = {  # messages of the standard library, which speak of its parser
    r"Cannot declare \(?'([^']+)'[^ ]* twice": r"the section [\1] occurs twice",
    r"Cannot overwrite a value": "a name is defined twice",
    r"Invalid value": "a value is missing, or a text has no quotation marks",
    r"Invalid statement": "this line is neither a section, a setting nor a comment",
    r"Expected '=' after a key in a key/value pair": "a name is not followed by =",
    r"Expected newline or end of document after a statement": "something follows the value",
    r"Unterminated string|Illegal character '\\n'": "a text has no closing quotation mark",
}


def key(name: str) -> str:
    """Return a name as a TOML key.

    >>> print(key("age"), key("age at admission"))
    age "age at admission"
    """
    return name if _BARE.fullmatch(name) else value(name)


def problem(error: Exception) -> str:
    r"""Return in plain words why a text is not valid TOML, with the position.

    >>> import tomllib
    >>> try:
    ...     tomllib.loads("[data]\n[data]")
    ... except ValueError as error:
    ...     print(problem(error))
    the section [data] occurs twice (at line 2, column 6)
    """
    text = str(error) or "too deeply nested"
    for pattern, words in _PROBLEMS.items():
        text = re.sub(pattern, words, text)
    return text


def document(given: Mapping[str, Any]) -> str:
    """Return a TOML document: plain values first, then the tables, with one line for each entry.

    >>> print(document({"version": 1, "data": {"subject": "id"}, "require": [{"model": "k-anonymity", "k": 11}]}))
    version = 1
    <BLANKLINE>
    [data]
    subject = "id"
    <BLANKLINE>
    [[require]]
    model = "k-anonymity"
    k = 11
    <BLANKLINE>
    """
    parts = ["".join(_lines({name: part for name, part in given.items() if not _tables(part)}))]
    for name, part in given.items():
        if isinstance(part, Mapping):
            parts.append("".join([f"[{key(name)}]\n", *_lines(part)]))
        elif _tables(part):
            parts += ["".join([f"[[{key(name)}]]\n", *_lines(item)]) for item in part]
    return "\n".join(part for part in parts if part)


def _tables(part: Any) -> bool:
    """Return whether a value is written as a table, or as an array of tables."""
    several = isinstance(part, list | tuple) and bool(part) and all(isinstance(item, Mapping) for item in part)
    return isinstance(part, Mapping) or several


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{key(name)} = {value(part)}\n" for name, part in table.items()]


def value(given: Any) -> str:
    """Return a value as TOML on one line.

    >>> print(value({"kind": "interval", "widths": [5.0, 10.0]}))
    { kind = "interval", widths = [5, 10] }
    """
    if isinstance(given, Mapping):
        return "{ " + ", ".join(f"{key(name)} = {value(part)}" for name, part in given.items()) + " }"
    if isinstance(given, list | tuple):
        return f"[{', '.join(map(value, given))}]"
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, float) and given.is_integer():
        return str(int(given))
    if isinstance(given, str):  # TOML escapes as JSON does, except one character that JSON does not escape
        return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(given)
