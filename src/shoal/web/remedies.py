"""Remedies in the terms of the workbench, where settings and options are fields of its pages."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from shoal.hierarchy.spec import KINDS
from shoal.policy.circumstances import PopulationSettings
from shoal.policy.search import Search
from shoal.table.options import Options
from shoal.web.forms import title_of

_ROLES = {"quasi": "quasi", "sensitive": "sensitive", "subject": "subject", "insensitive": "insensitive"}
_IMPORT = {
    *("header", "encoding", "separator", "decimal", "skip", "text", "markers", "suppressed", "unnamed", "columns"),
    *("format", "sheet", "engine"),
}


class Workbench:
    """Wording of remedies for the workbench."""

    def setting(self, key: str, value: Any) -> str:
        """Return an instruction naming the field of a page. Settings without a field are edited in the policy text.

        >>> Workbench().setting("search.suppression", 0.05)
        'set "Suppression limit" to 0.05 under "Search" on the Protect page'
        >>> Workbench().setting("pseudonyms.key_file", "…")
        'set "key_file" under "pseudonyms" in the text of the policy on the Protect page'
        """
        table, _, name = key.partition(".")
        if key == "search.levels":
            return 'restrict the levels under "Generalisation hierarchies" on the Protect page'
        if table == "search":
            return f'set "{_label(Search, name)}"{_to(value)} under "Search" on the Protect page'
        if table == "require":
            return "add a requirement on the Protect page"
        if table == "population":
            return 'fill in one field under "Population" on the Protect page'
        if table == "data" and name in {"subject", "household", "weight"}:
            return f"give a column the role {name} on the Identify page"
        return f'set "{name or table}"{_to(value)} under "{table}" in the text of the policy on the Protect page'

    def column_setting(self, column: str, part: str, value: Any) -> str:
        """Return an instruction naming the field of a page for a setting of a column.

        >>> Workbench().column_setting("dx", "role", "sensitive")
        "give column 'dx' the role sensitive on the Identify page"
        """
        if part == "role":
            return f"give column '{column}' the role {value} on the Identify page"
        if part == "names_nobody":
            return f"confirm the review of all values beside '{column}' on the Identify page"
        if part.startswith("hierarchy"):
            return f"change the hierarchy of '{column}' on the Protect page"
        return f"set \"{part}\"{_to(value)} for column '{column}' in the text of the policy on the Protect page"

    def option(self, name: str, value: Any) -> str:
        """Return an instruction naming the field of a page; empty for options that the workbench does not offer.

        >>> Workbench().option("header", False)
        'set "Header row" to no under "Import settings" on the Load page'
        >>> Workbench().option("quasi", "…"), Workbench().option("force", True)
        ('choose columns with the role quasi on the Identify page', '')
        """
        if name in _ROLES:
            return f"choose columns with the role {_ROLES[name]} on the Identify page"
        if name in _IMPORT:
            return f'set "{_label(Options, name)}"{_to(value)} under "Import settings" on the Load page'
        return ""


WORKBENCH = Workbench()


_SECTIONS: dict[str, type[BaseModel]] = {
    "search": Search,
    "data.read": Options,
    "population": PopulationSettings,
}


def labelled(problem: str) -> str:
    """Return a problem of the policy with the label of its field instead of its place in the file.

    >>> labelled("data.read.separator: must be one character"), labelled("require.0.k: must be at least 1")
    ('Field separator: must be one character', 'Requirement 1, k: must be at least 1')
    """
    place, _, text = problem.partition(": ")
    label, models = _place(place)
    if label is None:
        return problem
    return f"{label}: {_in_labels(text, models)}" if label else _in_labels(text, models)


def _place(place: str) -> tuple[str | None, list[type[BaseModel]]]:
    """Return the label of a place in the policy, and the models whose settings a problem there may name.

    The label is empty for a section as a whole, and None for an unknown place.
    """
    section, _, name = place.rpartition(".")
    model, kinds = _SECTIONS.get(section), list[type[BaseModel]](KINDS.values())
    number = re.fullmatch(r"require\.(\d+)(?:\.(\w+))?", place)
    ladder = re.fullmatch(r"columns\.(.+)\.hierarchy((?:\.\w+)*)", place)
    label: str | None = None
    models: list[type[BaseModel]] = []
    if model is not None and name in model.model_fields:
        label = _label(model, name)
    elif place in _SECTIONS:
        label, models = "", [_SECTIONS[place]]
    elif section == "search.weights":
        label = f"Weight of {name}"
    elif number is not None:
        part = "" if number[2] is None else f", {number[2].replace('_', ' ')}"
        label = f"Requirement {int(number[1]) + 1}{part}"
    elif ladder is not None:
        parts = ladder[2].split(".")[1:2]
        label = ", ".join([f"Hierarchy of {ladder[1]}", *(_in_labels(part, kinds) for part in parts)])
        models = kinds
    return label, models


def _in_labels(text: str, models: Sequence[type[BaseModel]]) -> str:
    """Return a text with the labels of fields instead of the names of settings.

    >>> _in_labels("levels cannot be combined with refine", [Search])
    '"Levels" cannot be combined with "Refinement"'
    """
    labels = [(name, _label(model, name)) for model in models for name in model.model_fields]
    unclear = {name for name, label in labels if any(name == other and label != theirs for other, theirs in labels)}
    return in_labels(text, {name: label for name, label in labels if name not in unclear})


def in_labels(text: str, labels: Mapping[str, str]) -> str:
    """Return a text with labels instead of names; ``kind`` is also an ordinary word and stays."""
    quoted = {name: f'"{label}"' for name, label in labels.items() if name != "kind"}
    return re.sub(r"\b\w+\b", lambda word: quoted.get(word[0], word[0]), text)


def _label(model: type[BaseModel], name: str) -> str:
    """Return the label of the field of a setting."""
    return title_of(name, model.model_json_schema()["properties"][name])


def _to(value: Any) -> str:
    """Return the value as the field shows it; empty if the choice is left to the reader."""
    if value == "…":
        return ""
    if isinstance(value, bool):
        return " to yes" if value else " to no"
    several = isinstance(value, Sequence) and not isinstance(value, str)
    return f" to {', '.join(map(str, value)) if several else value}"
