"""Remedies in the terms of the workbench, where settings and options are fields of its pages."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

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
        'set "Suppression limit" to 0.05 under "Search" on the page Protect'
        >>> Workbench().setting("pseudonyms.key_file", "…")
        'set "key_file" under "pseudonyms" in the text of the policy on the page Protect'
        """
        table, _, name = key.partition(".")
        if table == "search":
            return f'set "{_label(Search, name)}"{_to(value)} under "Search" on the page Protect'
        if table == "require":
            return "add a requirement on the page Protect"
        if table == "population":
            return 'describe the "Population" on the page Protect'
        if table == "data" and name in {"subject", "household", "weight"}:
            return f"give a column the role {name} on the page Identify"
        return f'set "{name or table}"{_to(value)} under "{table}" in the text of the policy on the page Protect'

    def column_setting(self, column: str, part: str, value: Any) -> str:
        """Return an instruction naming the field of a page for a setting of a column.

        >>> Workbench().column_setting("dx", "role", "sensitive")
        "give column 'dx' the role sensitive on the page Identify"
        """
        if part == "role":
            return f"give column '{column}' the role {value} on the page Identify"
        if part == "names_nobody":
            return f"tick \"identifies no individual\" beside '{column}' on the page Identify"
        if part.startswith("hierarchy"):
            return f"change the hierarchy of '{column}' on the page Protect"
        return f"set \"{part}\"{_to(value)} for column '{column}' in the text of the policy on the page Protect"

    def option(self, name: str, value: Any) -> str:
        """Return an instruction naming the field of a page; empty for options that the workbench does not offer.

        >>> Workbench().option("header", False)
        'set "Header row" to off under "Import settings" on the page Load'
        >>> Workbench().option("quasi", "…"), Workbench().option("force", True)
        ('choose columns with the role quasi on the page Identify', '')
        """
        if name in _ROLES:
            return f"choose columns with the role {_ROLES[name]} on the page Identify"
        if name in _IMPORT:
            return f'set "{_label(Options, name)}"{_to(value)} under "Import settings" on the page Load'
        return ""


WORKBENCH = Workbench()


def _label(model: type[BaseModel], name: str) -> str:
    """Return the label of the field of a setting."""
    return title_of(name, model.model_json_schema()["properties"][name])


def _to(value: Any) -> str:
    """Return the value as the field shows it; empty if the choice is left to the reader."""
    if value == "…":
        return ""
    if isinstance(value, bool):
        return " to on" if value else " to off"
    several = isinstance(value, Sequence) and not isinstance(value, str)
    return f" to {', '.join(map(str, value)) if several else value}"
