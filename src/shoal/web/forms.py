"""Forms generated from the registry, and the values entered in them.

Fields are those of a model, of a hierarchy kind or of the search.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

_TRUTH = {"True": True, "False": False}
_LIST, _TEXT, _FIXED = "array", "string", {"kind", "model"}
SHOWN = "shown:"  # prefix of a hidden field that marks a checkbox as shown: browsers do not send unticked boxes


@dataclass(frozen=True, slots=True)
class Field:
    """One form field.

    ``kind``: choice, check, number, list or text. ``value``: the current value. ``usual``: the default.
    ``plain``: whether the input is always text, even if it looks like a number or a truth value.
    An option that belongs to one choice of another field has a dotted name: the option ``strict`` of the technique
    ``mondrian`` is called ``recoding.mondrian.strict``. ``title``: the displayed name, without that choice.
    ``meanings``: what the choices mean.
    """

    name: str
    kind: str
    value: Any
    usual: Any
    says: str
    title: str
    choices: tuple[str, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)
    low: float | None = None
    whole: bool = False
    plain: bool = False

    def shown(self, choice: str) -> str:
        """Return a choice as displayed: its name, with its meaning if that is known."""
        name = {"True": "yes", "False": "no"}.get(choice, choice)
        return f"{name}: {self.meanings[choice]}" if choice in self.meanings else name

    @property
    def label(self) -> str:
        """The displayed name; for an option, its title followed by the choice it belongs to."""
        _, *choice, _ = ("", *self.name.split("."))
        return f"{self.title} ({choice[-1]})" if choice else self.title

    @property
    def help(self) -> str:
        """The line below the field; empty if it would only repeat the label."""
        says = "" if self.says.lower() == self.title.lower() else self.says
        return f"{says} (comma-separated)".strip() if self.kind == "list" else says

    @property
    def text(self) -> str:
        r"""The value as displayed in the field. A tab, which cannot be typed, is displayed as \t."""
        if self.value is None:
            return ""
        values = self.value if isinstance(self.value, list | tuple) else [self.value]
        return ", ".join(str(value).replace("\t", "\\t") for value in values)


def fields(
    model: type[BaseModel], values: Mapping[str, Any] | None = None, choices: Mapping[str, Sequence[str]] | None = None
) -> list[Field]:
    """Return the form fields of a model.

    ``values``: the current values. ``choices``: the options of the fields that are selected from a list.

    >>> from shoal.models.k_anonymity import KAnonymity
    >>> [(one.name, one.kind, one.text) for one in fields(KAnonymity, {"k": 11})]
    [('k', 'number', '11')]
    """
    schema, values = model.model_json_schema(), values or {}
    known, shown = schema.get("$defs", {}), list[Field]()
    for name, schema_part in schema["properties"].items():
        if name in _FIXED or schema_part.get("deprecated") or _too_deep(schema_part):
            continue
        value = values.get(name, schema_part.get("default"))
        tables = _tables(schema_part, known)
        if choices and name in choices:
            options = ("", *choices[name])
            usual = schema_part.get("default")
            says, title = _says(name, schema_part), title_of(name, schema_part)
            shown.append(Field(name, "choice", value, usual, says, title, options, plain=True))
        elif tables:
            shown += _with_options(name, schema_part, tables, values)
        else:
            shown.append(_field(name, schema_part, known, value))
    return shown


def _tables(schema_part: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables with a kind that are valid values of a field, by kind."""
    alternatives = [table for part in schema_part.get("anyOf", []) for table in part.get("oneOf", [])]
    tables = [known[str(table["$ref"]).rpartition("/")[2]] for table in alternatives]
    return {table["properties"]["kind"]["const"]: table for table in tables}


def _with_options(
    name: str, schema_part: Mapping[str, Any], tables: Mapping[str, Any], values: Mapping[str, Any]
) -> list[Field]:
    """Return a field for the kind and one for each option of each kind, except options too nested for a form.

    The current value of an option may also be a value of the model itself, beside the field.
    """
    given, usual = values.get(name, schema_part["default"]), schema_part["default"]
    chosen = {"kind": given} if isinstance(given, str) else dict(given)
    says, title = _says(name, schema_part), title_of(name, schema_part)
    kinds = next((part["enum"] for part in schema_part["anyOf"] if "enum" in part), tables)
    shown = [Field(name, "choice", chosen["kind"], usual, says, title, tuple(kinds), plain=True)]
    for kind, table in tables.items():
        for option, part in table["properties"].items():
            if option != "kind" and not _too_deep(part):
                beside = values.get(option) if kind == chosen["kind"] else None
                stands = chosen.get(option) if kind == chosen["kind"] else None
                value = next((each for each in (stands, beside) if each is not None), part.get("default"))
                shown.append(_field(f"{name}.{kind}.{option}", part, table.get("$defs", {}), value))
    return shown


def title_of(name: str, schema_part: Mapping[str, Any]) -> str:
    """Return the title of a field: the declared one, or its name; symbols such as k stay in lower case.

    >>> title_of("at_most", {"title": "Maximum success"}), title_of("check_labels", {"title": "Check Labels"})
    ('Maximum success', 'Check labels')
    >>> title_of("k", {"title": "K"})
    'k'
    """
    own = name.rpartition(".")[2].replace("_", " ")
    title = str(schema_part.get("title", own.title()))
    if title != own.title():
        return title
    return own if len(own) == 1 else own.capitalize()


def _says(name: str, schema_part: Mapping[str, Any]) -> str:
    return str(schema_part.get("description", "") or name.replace("_", " "))


def _too_deep(schema_part: Mapping[str, Any]) -> bool:
    """Return whether a field is too deeply nested for a form: a list of lists, or a mapping."""
    kinds = [part for part in schema_part.get("anyOf", [schema_part]) if part.get("type") != "null"]
    first = kinds[0]
    listed = first.get("type") == _LIST and first.get("items", {}).get("type") == _LIST
    return bool(listed or first.get("type") == "object")


def _field(name: str, schema_part: Mapping[str, Any], known: Mapping[str, Any], value: Any) -> Field:
    says, title, usual = _says(name, schema_part), title_of(name, schema_part), schema_part.get("default")
    kinds = [part for part in schema_part.get("anyOf", [schema_part]) if part.get("type") != "null"]
    first = {**kinds[0], **known.get(str(kinds[0].get("$ref", "")).rpartition("/")[2], {})}
    optional = ("",) if any(part.get("type") == "null" for part in schema_part.get("anyOf", [])) else ()
    kind = first.get("type")
    choices = first.get("enum") or (list(_TRUTH.values()) if kind == "boolean" and optional else None)
    if choices is not None:
        texts = all(isinstance(choice, str) for choice in choices)
        return Field(name, "choice", value, usual, says, title, (*optional, *map(str, choices)), plain=texts)
    if kind == "boolean":
        return Field(name, "check", value, usual, says, title)
    if kind == _LIST:
        return Field(name, "list", value, usual, says, title, plain=first.get("items", {}).get("type") == _TEXT)
    if kind in {"integer", "number"} and len(kinds) == 1:
        return Field(name, "number", value, usual, says, title, low=first.get("minimum"), whole=kind == "integer")
    return Field(name, "text", value, usual, says, title, plain=kind == _TEXT and len(kinds) == 1)


def filled_in(asked: Sequence[Field], form: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the values entered in a form, omitting empty fields and defaults.

    Fields that are unchanged or absent from the form keep their current value.

    >>> asked = [Field("k", "number", None, None, "", "k"), Field("widths", "list", None, None, "", "Widths")]
    >>> filled_in(asked, {"k": ["5"], "widths": ["5, 10"]})
    {'k': 5, 'widths': [5, 10]}
    """
    entered = {field.name: _said(field, form) for field in asked}
    chosen = {field.name: entered[field.name] for field in asked if entered[field.name] not in (None, field.usual)}
    plain = {name: value for name, value in chosen.items() if "." not in name}
    for name, value in chosen.items():
        field, *path = name.split(".")
        if path and entered[field] == path[0]:  # options of other choices do not apply
            before = plain.get(field)
            plain[field] = {**(before if isinstance(before, dict) else {"kind": path[0]}), path[1]: value}
    return plain


def _said(field: Field, form: Mapping[str, Sequence[Any]]) -> Any:
    if field.kind == "check":
        return field.name in form if f"{SHOWN}{field.name}" in form else field.value
    if field.name not in form:
        return field.value
    text = str(next(iter(form[field.name]), "")).strip()
    if text == field.text:
        return field.value
    text = text.replace("\\t", "\t")
    read = str if field.plain else _value
    if field.kind == "list":
        return [read(part.strip()) for part in text.split(",") if part.strip()] or None
    return read(text) if text else None


def _value(text: str) -> Any:
    """Parse a number or a truth value; return any other text unchanged."""
    if text in _TRUTH:
        return _TRUTH[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
