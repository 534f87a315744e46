"""Forms from the registry: the fields of a model, of a kind of hierarchy or of the search, and what was filled in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

_TRUTH = {"True": True, "False": False}
_LIST, _TEXT, _FIXED = "array", "string", {"kind", "model"}


@dataclass(frozen=True, slots=True)
class Field:
    """One field: ``kind`` is choice, check, number, list or text. ``value``: what stands in it.

    ``plain``: whether what is filled in is text, whatever it looks like.
    """

    name: str
    kind: str
    value: Any
    says: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    whole: bool = False
    plain: bool = False

    @property
    def text(self) -> str:
        """The value as it is written in the field."""
        if self.value is None:
            return ""
        if isinstance(self.value, list | tuple):
            return ", ".join(map(str, self.value))
        return str(self.value)


def fields(
    model: type[BaseModel], held: Mapping[str, Any] | None = None, choices: Mapping[str, Sequence[str]] | None = None
) -> list[Field]:
    """Return the fields of a model; ``held``: what is filled in, ``choices``: of fields that are chosen from a list.

    >>> from shoal.models.k_anonymity import KAnonymity
    >>> [(one.name, one.kind, one.text) for one in fields(KAnonymity, {"k": 11})]
    [('k', 'number', '11')]
    """
    schema = model.model_json_schema()
    found = []
    for name, said in schema["properties"].items():
        if name in _FIXED:
            continue
        one = _field(name, said, schema.get("$defs", {}), (held or {}).get(name, said.get("default")))
        if one is not None and choices and name in choices:
            one = Field(name, "choice", one.value, one.says, ("", *choices[name]), plain=True)
        if one is not None:
            found.append(one)
    return found


def _field(name: str, said: Mapping[str, Any], known: Mapping[str, Any], value: Any) -> Field | None:
    """Return one field; None if it is too deep for a form."""
    says = said.get("description", "") or name.replace("_", " ")
    kinds = [part for part in said.get("anyOf", [said]) if part.get("type") != "null"]
    first = {**kinds[0], **known.get(str(kinds[0].get("$ref", "")).rpartition("/")[2], {})}
    optional = ("",) if any(part.get("type") == "null" for part in said.get("anyOf", [])) else ()
    kind = first.get("type")
    choices = first.get("enum") or (list(_TRUTH.values()) if kind == "boolean" and optional else None)
    if choices is not None:
        texts = all(isinstance(one, str) for one in choices)
        return Field(name, "choice", value, says, (*optional, *map(str, choices)), plain=texts)
    if kind == "object" or (kind == _LIST and first["items"].get("type") == _LIST):
        return None
    if kind == "boolean":
        return Field(name, "check", value, says)
    if kind == _LIST:
        return Field(name, "list", value, says, plain=first.get("items", {}).get("type") == _TEXT)
    if kind in {"integer", "number"} and len(kinds) == 1:
        return Field(name, "number", value, says, low=first.get("minimum"), whole=kind == "integer")
    return Field(name, "text", value, says, plain=kind == _TEXT and len(kinds) == 1)


def filled_in(asked: Sequence[Field], form: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return what was filled in; what was left empty is not there.

    >>> asked = [Field("k", "number", None, ""), Field("widths", "list", None, "")]
    >>> filled_in(asked, {"k": ["5"], "widths": ["5, 10"]})
    {'k': 5, 'widths': [5, 10]}
    """
    found: dict[str, Any] = {}
    for one in asked:
        if one.kind == "check":
            found[one.name] = one.name in form
            continue
        text = str(next(iter(form.get(one.name, [""])), "")).strip()
        if text:
            read = str if one.plain else _value
            found[one.name] = [read(part.strip()) for part in text.split(",")] if one.kind == "list" else read(text)
    return found


def _value(text: str) -> Any:
    """Return a number, or a truth, if it is written like one."""
    if text in _TRUTH:
        return _TRUTH[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
