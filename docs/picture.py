"""Draw the picture of the README: what ``shoal demo`` prints, as an SVG without foreign fonts.

python docs/picture.py
"""

import contextlib
import io
import re
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

from shoal.demo.tour import tour

PICTURE = Path(__file__).resolve().parent / "demo.svg"
LOCAL = re.sub(r"@font-face \{\{.*?\}\}|<!--.*?-->", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def main() -> None:
    """Run the demo in a scratch folder and save what it says."""
    console = Console(record=True, width=92, file=io.StringIO(), highlight=False)
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        tour(Path("shoal-demo"), console, patients=5000, seed=1, force=False)
    svg = console.export_svg(title="shoal demo", theme=DIMMED_MONOKAI, code_format=LOCAL, unique_id="shoal")
    PICTURE.write_text(svg.replace("Fira Code", "Menlo, Consolas"), encoding="utf-8")


if __name__ == "__main__":
    main()
