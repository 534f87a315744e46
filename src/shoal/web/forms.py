"""Forms from the registry: the fields of a model, of a kind of hierarchy or of the search, and what was filled in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

_TRUTH = {"True": True, "False": False}
_LIST, _TEXT, _FIXED = "array", "string", {"kind", "model"}
SHOWN = "shown:"  # before the name of a check: it was in the form, so that it is off if it does not come


@dataclass(frozen=True, slots=True)
class Field:
    """One field: ``kind`` is choice, check, number, list or text. ``value``: what stands in it; ``usual``: the default.

    ``plain``: whether what is filled in is text, whatever it looks like.
    """

    name: str
    kind: str
    value: Any
    usual: Any
    says: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    whole: bool = False
    plain: bool = False

    @property
    def text(self) -> str:
        r"""The value as it is written in the field; a tab, which cannot be typed, as \t."""
        if self.value is None:
            return ""
        held = self.value if isinstance(self.value, list | tuple) else [self.value]
        return ", ".join(str(one).replace("\t", "\\t") for one in held)


def fields(
    model: type[BaseModel], held: Mapping[str, Any] | None = None, choices: Mapping[str, Sequence[str]] | None = None
) -> list[Field]:
    """Return the fields of a model; ``held``: what is filled in, ``choices``: of fields that are chosen from a list.

    >>> from shoal.models.k_anonymity import KAnonymity
    >>> [(one.name, one.kind, one.text) for one in fields(KAnonymity, {"k": 11})]
    [('k', 'number', '11')]
    """
    schema = model.model_json_schema()
    known, found = schema.get("$defs", {}), []
    for name, said in schema["properties"].items():
        if name in _FIXED or _too_deep(said):
            continue
        value = (held or {}).get(name, said.get("default"))
        if choices and name in choices:
            options = ("", *choices[name])
            found.append(Field(name, "choice", value, said.get("default"), _says(name, said), options, plain=True))
        else:
            found.append(_field(name, said, known, value))
    return found


def _says(name: str, said: Mapping[str, Any]) -> str:
    return str(said.get("description", "") or name.replace("_", " "))


def _too_deep(said: Mapping[str, Any]) -> bool:
    """Tell whether a field is too deep for a form: a list of lists, or named values."""
    kinds = [part for part in said.get("anyOf", [said]) if part.get("type") != "null"]
    first = kinds[0]
    listed = first.get("type") == _LIST and first.get("items", {}).get("type") == _LIST
    return bool(listed or first.get("type") == "object")


def _field(name: str, said: Mapping[str, Any], known: Mapping[str, Any], value: Any) -> Field:
    says, usual = _says(name, said), said.get("default")
    kinds = [part for part in said.get("anyOf", [said]) if part.get("type") != "null"]
    first = {**kinds[0], **known.get(str(kinds[0].get("$ref", "")).rpartition("/")[2], {})}
    optional = ("",) if any(part.get("type") == "null" for part in said.get("anyOf", [])) else ()
    kind = first.get("type")
    choices = first.get("enum") or (list(_TRUTH.values()) if kind == "boolean" and optional else None)
    if choices is not None:
        texts = all(isinstance(one, str) for one in choices)
        return Field(name, "choice", value, usual, says, (*optional, *map(str, choices)), plain=texts)
    if kind == "boolean":
        return Field(name, "check", value, usual, says)
    if kind == _LIST:
        return Field(name, "list", value, usual, says, plain=first.get("items", {}).get("type") == _TEXT)
    if kind in {"integer", "number"} and len(kinds) == 1:
        return Field(name, "number", value, usual, says, low=first.get("minimum"), whole=kind == "integer")
    return Field(name, "text", value, usual, says, plain=kind == _TEXT and len(kinds) == 1)


def filled_in(asked: Sequence[Field], form: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return what was filled in; what was left empty, or is as usual, is not there. What was not touched is as it was.

    >>> asked = [Field("k", "number", None, None, ""), Field("widths", "list", None, None, "")]
    >>> filled_in(asked, {"k": ["5"], "widths": ["5, 10"]})
    {'k': 5, 'widths': [5, 10]}
    """
    found = {one.name: _said(one, form) for one in asked}
    return {one.name: found[one.name] for one in asked if found[one.name] not in (None, one.usual)}


def _said(one: Field, form: Mapping[str, Sequence[Any]]) -> Any:
    if one.kind == "check":
        return one.name in form if f"{SHOWN}{one.name}" in form else one.value
    if one.name not in form:
        return one.value
    text = str(next(iter(form[one.name]), "")).strip()
    if text == one.text:
        return one.value
    text = text.replace("\\t", "\t")
    read = str if one.plain else _value
    if one.kind == "list":
        return [read(part.strip()) for part in text.split(",") if part.strip()] or None
    return read(text) if text else None


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
