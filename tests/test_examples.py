"""The examples run, and say what they should."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_the_figures_of_the_paper(shared, tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / "kroes.py", shared / "data/kroes", tmp_path],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    names = ("1", "2a", "2b", "2c", "3a", "3b", "4a", "4b")
    assert {path.name for path in tmp_path.iterdir()} == {
        f"figure-{n}{kind}" for n in names for kind in (".svg", ".png")
    }
    published = (
        "0.10201724 0.19252669 0.09874690 0.13474677 0.15474972 0.09647474 0.12545721 0.15101291"  # in their app
    )
    assert all(mean in done.stdout for mean in published.split())
    assert "761 of 789" in done.stdout
    assert "463 of 789" in done.stdout


ADULT = "sex age race marital-status education native-country workclass occupation salary-class".split()


def test_prasser_figure_4(shared, tmp_path):
    """The Adult half of the figure, by one command."""
    folder = shared / "data/arx-adult"
    ladder = '{{ kind = "explicit", file = "{}/adult_hierarchy_{}.csv", check_labels = false }}'
    lines = [f'columns.{name} = {{ role = "quasi", hierarchy = {ladder.format(folder, name)} }}' for name in ADULT]
    policy = tmp_path / "policy.toml"
    policy.write_text("\n".join(["version = 1", *lines]))
    oracle = json.loads((shared / "oracles/arx_nue_curve.json").read_text())
    schemes = {
        name: ",".join(f"{column}:{level}" for column, level in zip(ADULT, levels, strict=True))
        for name, levels in oracle["levels"].items()
    }
    options = [part for name, levels in schemes.items() for part in ("--scheme", f"{name}={levels}")]
    done = subprocess.run(
        [sys.executable, EXAMPLES / "prasser.py", folder / "adult.csv", policy, tmp_path / "4.svg", *options],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "4.svg").stat().st_size > 10_000
    printed = {}
    for line in done.stdout.splitlines():
        name, share, _, generic, _, conventional = line.split()
        printed[name, int(share.removesuffix("%"))] = float(generic), float(conventional)
    for name, points in oracle["curves"].items():
        for point in points:
            if (name, point["suppressed_percent"]) in printed:
                wanted = point["generic_normalized"], point["conventional_normalized"]
                assert printed[name, point["suppressed_percent"]] == pytest.approx(wanted, abs=1e-6)
    assert len(printed) == 84


def test_proposals_for_the_tables_of_papers(shared):
    """Of every table, all columns that name persons are found and no other is taken for one; the rest is told."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / "proposals.py", shared / "data"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    tables = done.stdout.strip().split("\n\n")
    assert len(tables) == 9
    for told in tables:
        naming, same = told.splitlines()[1:3]
        found, present = re.search(r"(\d+) of (\d+) found, 0 taken", naming).groups()
        assert found == present
        agree, columns = map(int, re.search(r"(\d+) of (\d+)", same).groups())
        assert len(told.splitlines()) == 3 + columns - agree
    assert "sex: insensitive in the paper, quasi here" in tables[0]
    assert "same role: 9 of 9" in tables[2]
