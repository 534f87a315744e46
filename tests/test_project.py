"""The files around the package: what the README says is what CI runs, and a source distribution holds all of it."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_ci_runs_the_command_of_the_readme():
    """CI finds the command by a pattern, which must fit one line."""
    pattern = re.search(r"grep -E '(.+)' README.md", (ROOT / ".ci/run").read_text(encoding="utf-8"))[1]
    (line,) = re.findall(pattern, (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    *_, install, test = line.split(" && ")
    assert "[test]" in install
    assert test == ".venv/bin/pytest"


def test_a_source_distribution_holds_what_its_tests_need():
    """What is imported or read from beside the package; CI collects the tests of an unpacked distribution."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    included = set(build["targets"]["sdist"]["include"])
    assert included >= {"src", "tests", "examples", "benchmarks", ".ci", "conftest.py", "hatch_build.py"}
    assert all((ROOT / name).exists() for name in included)


RECIPES = re.findall(
    r"^One file in `src/shoal/(\S+)/`.*?^```python\n(.*?)^```",
    (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)
BESIDE = """
import doctest, importlib
room = importlib.import_module("{room}")
room.__path__.append("{folder}")  # as if the file lay in the package
sample = importlib.import_module("{room}.sample")
assert doctest.testmod(sample).failed == 0
{more}
"""
FOUND = {  # what else must know of it
    "table/formats": """
import shoal
shoal.write(shoal.read({"x": [1, 2, None], "y": list("abc")}), "out.arrows")
assert shoal.read("out.arrows").to_frame("pyarrow").to_pydict() == {"x": [1, 2, None], "y": list("abc")}
""",
    "hierarchy": 'from shoal.cli import main; import sys; sys.argv[1:] = ["schema"]; main()',
    "models": 'from shoal.cli import main; import sys; sys.argv[1:] = ["schema"]; main()',
    "techniques": 'from shoal.cli import main; import sys; sys.argv[1:] = ["schema"]; main()',
    "qualities": 'from shoal.cli import main; import sys; sys.argv[1:] = ["schema"]; main()',
    "separation": 'from shoal.cli import main; import sys; sys.argv[1:] = ["schema"]; main()',
    "perturbations": 'from shoal.cli import main; import sys; sys.argv[1:] = ["schema"]; main()',
}


def test_every_recipe_is_tried():
    assert [room for room, _ in RECIPES] == [
        *("table/formats", "hierarchy", "models", "qualities", "techniques", "perturbations", "separation", "attacks"),
        *("charts", "reporting/chapters"),
    ]


@pytest.mark.parametrize(("room", "sample"), RECIPES, ids=[room for room, _ in RECIPES])
def test_recipes_for_contributors_work(room, sample, tmp_path):
    """In a process of its own, in whose package one more file lies."""
    (tmp_path / "sample.py").write_text(sample, encoding="utf-8")
    package = f"shoal.{room.replace('/', '.')}"
    script = BESIDE.format(room=package, folder=tmp_path, more=FOUND.get(room, ""))
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    if "schema" in FOUND.get(room, ""):
        name = re.search(r"register\((.+)\)", sample)[1]  # in quotes
        assert name in done.stdout


COMMON = {  # tests that try everything that is registered, and what of them is about the sample
    "table/formats": ("tests/table/test_roundtrip.py", "arrows"),
    "models": ("tests/models", "doublings and not reference"),
    "qualities": ("tests/qualities/test_qualities.py", "not lattice"),
    "techniques": ("tests/techniques", "bands or other_file"),
    "attacks": ("tests/attacks/test_attacks.py", "alone or made_up or documented"),
}
PLUGIN = """
import importlib
importlib.import_module("{room}").__path__.append("{folder}")
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(("room", "sample"), [recipe for recipe in RECIPES if recipe[0] in COMMON], ids=list(COMMON))
def test_recipes_for_contributors_pass_the_common_tests(room, sample, tmp_path):
    """Whoever begins with a sample begins with something that is right."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "sample.py").write_text(sample, encoding="utf-8")
    package = f"shoal.{room.replace('/', '.')}"
    (tmp_path / "beside.py").write_text(PLUGIN.format(room=package, folder=tmp_path / "package"), encoding="utf-8")
    files, some = COMMON[room]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "-p",
        "beside",
        "-p",
        "no:cacheprovider",
        files,
        "-k",
        some,
    ]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 0


def test_no_text_is_a_statement_of_its_own():
    """A text that was meant to continue the line before would be lost."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for statement in getattr(node, "body", [])[1:] if isinstance(getattr(node, "body", None), list) else []:
                is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.JoinedStr | ast.Constant)
                assert not is_text or statement.value.value is Ellipsis, f"{path}:{statement.lineno}"


def test_every_fault_that_is_planted_can_be():
    """Whoever changes a line that ``benchmarks/mutants.py`` breaks must tell it."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from mutants import FAULTS

    texts = {fault: (ROOT / "src/shoal" / fault.file).read_text(encoding="utf-8") for fault in FAULTS}
    assert [fault.name for fault, text in texts.items() if text.count(fault.right) != 1] == []


def test_every_tool_that_is_an_extra_is_there_for_the_tests():
    """A test that lacks a package would be skipped where its result counts."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    not_at_hand = {"oracle", "sqlserver"}  # their servers are not there to be tested with
    needed = {one for name, packages in extras.items() if name not in {"test", *not_at_hand} for one in packages}
    assert needed <= set(extras["test"])


def test_every_public_class_and_type_has_a_name_of_its_own():
    """One word, one thing: whoever searches for a name finds one definition."""
    defined = Counter(
        name
        for path in (ROOT / "src/shoal").rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if (name := _defined(node)) and not name.startswith("_")
    )
    assert [name for name, times in defined.items() if times > 1] == []


def _defined(node: ast.stmt) -> str | None:
    if isinstance(node, ast.ClassDef):
        return node.name
    is_alias = isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias"
    return ast.unparse(node.target) if is_alias else None
