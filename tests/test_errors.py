"""Errors: a code, a text with facts, and a remedy that every interface phrases in its own terms."""

import ast
import re
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
import typer

import shoal
from shoal import errors
from shoal.cli.app import app
from shoal.cli.remedies import COMMAND_LINE
from shoal.errors import ColumnError, PolicyError, ShoalError
from shoal.remedy import PYTHON, ColumnSetting, Option, Setting, advised, by, either
from shoal.web.remedies import WORKBENCH

SOURCE = Path(shoal.__file__).parent
KINDS = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, ShoalError)}


@cache
def raised():
    """Return every error that the source makes: the file, the line and the call."""
    kinds = KINDS | {"error", "NotInstalledError"}
    return [
        (f"{path.relative_to(SOURCE)}:{node.lineno}", node)
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds
    ]


def texts(node):
    return [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def test_every_text_has_its_facts_and_no_other():
    """A template whose fact is not given would be a traceback in place of an error."""
    assert len(list(raised())) > 400
    for place, call in raised():
        if any(isinstance(argument, ast.Starred) for argument in call.args) or not call.args:
            continue
        if any(keyword.arg is None for keyword in call.keywords):  # the facts of another error
            continue
        code, template = call.args[:2]
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code.value), place
        facts = {keyword.arg for keyword in call.keywords} - {"remedy"}
        remedies = [keyword.value for keyword in call.keywords if keyword.arg == "remedy"]
        used = [
            name
            for text in (template.value, *(part for one in remedies for part in texts(one)))
            for name in names(text)
        ]
        assert set(names(template.value)) <= facts, place
        columns = {"column"} if any("ColumnSetting" in ast.unparse(one) for one in remedies) else set()
        assert facts >= columns, place
        assert facts - set(used) - columns <= {"name", "others", "names", "column", "problems"}, place


def names(template):
    try:
        return [name for _, name, _, _ in Formatter().parse(template) if name]
    except ValueError:  # a text that is no template
        return []


def test_no_interface_speaks_in_terms_of_another():
    """Flags are for the command line, calls for Python: others take an Option or a Setting."""
    for place, call in raised():
        remedies = [text for keyword in call.keywords if keyword.arg == "remedy" for text in texts(keyword.value)]
        if not place.startswith("cli"):
            assert not [text for text in remedies if re.search(r"(^|\s)--[a-z]", text)], place


def test_options_of_remedies_are_flags_of_the_command_line():
    commands = typer.main.get_command(app).commands.values()
    flags = {flag for command in commands for given in command.params for flag in (*given.opts, *given.secondary_opts)}
    options = {
        (node.args[0].value, ast.unparse(node.args[1]) if len(node.args) > 1 else "…")
        for path in SOURCE.rglob("*.py")
        if path.name not in {"remedy.py", "remedies.py"}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Option" and isinstance(node.args[0], ast.Constant)
    }
    assert len(options) > 20
    for name, value in options:
        said = COMMAND_LINE.option(name, False if value == "False" else True if value == "True" else "…")
        assert not said or said.split()[1] in flags, name


REMEDY = either(
    by("Name them", Option("quasi", ["age", "sex"])), Setting("search.suppression", 0.05), Option("force", True)
)


PHRASED = {
    PYTHON: "Name them: pass quasi=['age', 'sex'], or set suppression = 0.05 under [search] in the policy, "
    "or pass force=True.",
    COMMAND_LINE: "Name them: add --quasi age,sex, or set suppression = 0.05 under [search] in the policy, "
    "or add --force.",
    WORKBENCH: "Name them: choose columns with the role quasi on the Identify page, "
    'or set "Suppression limit" to 0.05 under "Search" on the Protect page.',
}


@pytest.mark.parametrize(("face", "advice"), PHRASED.items())
def test_each_interface_phrases_a_remedy_in_its_own_terms(face, advice):
    assert advised(REMEDY, face) == advice


def test_names_with_braces_are_only_names():
    error = ColumnError.unknown("{x}", ["{y}", "{x"])
    assert error.message == "There is no column '{x}'."
    assert error.hint == "Did you mean '{x'?"
    error = PolicyError("no-role", "Column '{column}'.", remedy=ColumnSetting("role", "quasi"), column="{a}")
    assert error.hint == "Set role = \"quasi\" for column '{a}' under [columns] in the policy."
    assert error.within("Table '{table}': ", table="{t}").message == "Table '{t}': Column '{a}'."
