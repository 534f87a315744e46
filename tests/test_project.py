"""The files around the package: what the README says is what CI runs, and a source distribution holds all of it."""

import ast
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


SAMPLES = re.findall(
    r"^```python\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
ROUND_TRIP = """
import shoal
shoal.write(shoal.read({"x": [1, 2, None], "y": list("abc")}), "out.bars")
assert shoal.read("out.bars").to_frame("pyarrow").to_pydict() == {"x": [1, 2, None], "y": list("abc")}
"""


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: re.search(r'register\("(.+)"\)', sample)[1])
def test_samples_for_contributors_run(sample, tmp_path):
    """In a process of its own, which knows one more format, model, measure or attack."""
    (tmp_path / "sample.py").write_text(sample, encoding="utf-8")
    using = "" if ">>>" in sample else ROUND_TRIP
    script = f"import doctest, sample\nassert doctest.testmod(sample).failed == 0\n{using}"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


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
