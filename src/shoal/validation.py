"""Validation of user input by pydantic, with messages in the words of shoal: the place, the problem and the remedy.

Messages of pydantic quote the input. Input may be data, so only its place and the violated rule are reported.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from shoal.errors import ShoalError, did_you_mean, similar
from shoal.remedy import FixedText

M = TypeVar("M", bound=BaseModel)


Share = Annotated[float, Field(ge=0, le=1)]


class Checked(BaseModel):
    """Base of all user input: frozen, and without unknown settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        """Return the JSON Schema, with descriptions for readers: without examples and markup."""
        return _readable(super().model_json_schema(*args, **options))  # type: ignore[no-any-return]


def _readable(part: Any) -> Any:
    if isinstance(part, list):
        return [_readable(item) for item in part]
    if not isinstance(part, dict):
        return part
    shown = {name: _readable(item) for name, item in part.items()}
    if isinstance(shown.get("description"), str):
        shown["description"] = shown["description"].partition(">>>")[0].replace("``", "").rstrip()
    return shown


def one_of(known: Iterable[str], noun: str, name: str) -> str:
    """Return a known name; refuse any other."""
    if name not in set(known):
        raise ValueError(f"there is no such {noun}. {similar(name, known, 30)}")
    return name


def validated(model: type[M], given: Mapping[str, Any], *, where: str, error: type[ShoalError]) -> M:
    """Return the model made from the input, or raise ``error`` with every problem and its place."""
    try:
        return TypeAdapter(model).validate_python(given)
    except ValidationError as failure:
        problems = [_problem(model, error) for error in failure.errors(include_url=False)]
    texts = tuple(text for text, _ in problems)
    lines = "".join(f"\n  {text}" for text in texts)
    remedy = [FixedText(hint) for hint in dict.fromkeys(str(hint) for _, hint in problems if hint)]
    raise error("invalid", "{where} cannot be used:{lines}", remedy=remedy, where=where, lines=lines, problems=texts)


def _problem(model: type[BaseModel], error: Any) -> tuple[str, FixedText | None]:
    """Return a description of a problem, and a hint if a known word is similar."""
    place = _written_place(error["loc"])
    path = ".".join(place)
    if error["type"] == "extra_forbidden":
        known = _fields_at(model, error["loc"][:-1])
        return f"{path}: there is no such setting", similar(place[-1], known)
    if error["type"] == "union_tag_invalid":
        known = [word.strip(" '") for word in error["ctx"]["expected_tags"].split(",")]
        wrong = str(error["ctx"]["tag"])
        return f"{path}.kind: there is no kind '{wrong}'", similar(wrong, known)
    if error["type"] == "no_such_choice":
        return _no_such_choice(path, error)
    if error["type"] in {"enum", "literal_error"}:
        known = [word.strip("' ") for word in re.split(r", | or ", error["ctx"]["expected"])]
        choice = known[0] if len(known) == 1 else f"one of {', '.join(known)}"
        return f"{path}: must be {choice}", did_you_mean(str(error["input"]), known)
    if error["type"] in _BOUNDS:
        relation, bound = _BOUNDS[error["type"]]
        return f"{path}: must be {relation} {error['ctx'][bound]:g}", None
    message = _PLAIN.get(error["type"]) or error["msg"].removeprefix("Value error, ")
    return f"{f'{path}: ' if path else ''}{message[:1].lower()}{message[1:]}", None


def _no_such_choice(path: str, error: Any) -> tuple[str, FixedText | None]:
    """Return the problem of an unknown or missing name, and a hint."""
    key, other, known = error["ctx"]["key"], error["ctx"]["other"], error["ctx"]["known"].split(",")
    given = error["input"].get(key) if isinstance(error["input"], Mapping) else None
    if given is None:
        return f"{path}: give {key}, {other}", None
    return f"{path}.{key}: {error['msg']}", similar(str(given), known, 30)


# Plain wording instead of the messages of pydantic.
_PLAIN = {
    "missing": "is missing",
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), "must be a number"),
    "union_tag_not_found": 'needs a kind: { kind = "…" }',
    "model_type": "must be a table: { … }",
    "model_attributes_type": "must be a table: { … }",
    "tuple_type": "must be a list",
}
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}


def _written_place(place: Sequence[str | int]) -> list[str]:
    """Return the place as written in the file: without the kinds that pydantic inserts, and without values."""
    written: list[str] = []
    for before, part in zip([None, *place], place, strict=False):
        if before == "hierarchy" or (isinstance(before, int) and written[0] == "require" and len(written) == 2):
            written.append("")  # the kind or the model, which stands elsewhere in the file
            continue
        written.append(str(part))
        if part == "values":
            break
    return [part for part in written if part]


def _fields_at(model: Any, place: Sequence[str | int]) -> list[str]:
    """Return the known settings at a place inside a model."""
    for part in place:
        model = _inside(model, part)
    return list(model.model_fields) if hasattr(model, "model_fields") else []


def _inside(annotation: Any, part: str | int) -> Any:
    if hasattr(annotation, "model_fields") and part in annotation.model_fields:
        return _model_in(annotation.model_fields[part].annotation)
    for member in get_args(_element(annotation)):
        if any(getattr(mark, "tag", None) == part for mark in get_args(member)[1:]):
            return get_args(member)[0]
        fields = getattr(member, "model_fields", {})
        if "kind" in fields and fields["kind"].default == part:
            return member
    return _model_in(annotation)


def _element(annotation: Any) -> Any:
    """Return the element type of a list; other types unchanged."""
    return get_args(annotation)[0] if get_origin(annotation) is list else annotation


def _model_in(annotation: Any) -> Any:
    """Return the model inside an annotation such as ``dict[str, Model] | None``."""
    if hasattr(annotation, "model_fields"):
        return annotation
    models = [inner for member in get_args(annotation) if (inner := _model_in(member)) is not None]
    if len(models) > 1:
        return annotation
    return models[0] if models else None
