"""The files around the package: what the README says is what CI runs, and a source distribution holds all of it."""

import re
import tomllib
from pathlib import Path

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


def test_every_tool_that_is_an_extra_is_there_for_the_tests():
    """A test that lacks a package would be skipped where its result counts."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    not_at_hand = {"oracle", "sqlserver"}  # their servers are not there to be tested with
    needed = {one for name, packages in extras.items() if name not in {"test", *not_at_hand} for one in packages}
    assert needed <= set(extras["test"])
