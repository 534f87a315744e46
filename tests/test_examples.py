"""The examples run, and say what they should."""

import subprocess
import sys
from pathlib import Path

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
