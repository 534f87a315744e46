"""Draw the pictures of the documentation: the demo, the report, the workbench, and the heatmap of a table.

python docs/pictures.py [ADULT.csv]

The screenshots require Chromium and Playwright.
"""

import contextlib
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

import shoal
from shoal.demo.tour import tour
from shoal.web.guard import ENTRANCE

FOLDER = Path(__file__).resolve().parent
LOCAL = re.sub(r"@font-face \{\{.*?\}\}|<!--.*?-->", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
FLAGS = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update"


def main() -> None:
    """Run the demo in a scratch folder, and take pictures of its results."""
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        demo = Path("shoal-demo")
        console = Console(record=True, width=92, file=io.StringIO(), highlight=False)
        tour(demo, console, patients=5000, seed=1, force=False)
        svg = console.export_svg(title="shoal demo", theme=DIMMED_MONOKAI, code_format=LOCAL, unique_id="shoal")
        (FOLDER / "demo.svg").write_text(svg.replace("Fira Code", "Menlo, Consolas"), encoding="utf-8")
        with _page() as page:
            _report(page, demo)
            _workbench(page, demo)
    for adult in sys.argv[1:]:
        shoal.charts.heatmap(shoal.peers(adult)).save(FOLDER / "peers.svg", force=True)


@contextlib.contextmanager
def _page() -> Iterator[Page]:
    """Open a page of Chromium."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS.split())
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(120_000)
        yield page
        browser.close()


def _report(page: Page, demo: Path) -> None:
    """Take a picture of the summary of the report."""
    page.goto((demo / "report.html").resolve().as_uri())
    page.locator("#summary").evaluate("part => part.scrollIntoView()")
    page.screenshot(path=FOLDER / "report-summary.png")


def _workbench(page: Page, demo: Path) -> None:
    """Take a picture of the individuals and the attributes that breach one of them."""
    command = [sys.executable, "-m", "shoal", "serve", str(demo / "patients.csv"), "--no-browser"]
    server = subprocess.Popen(  # noqa: S603 - our own command
        [*command, "--policy", str(demo / "policy.toml")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        lines = iter(server.stdout or ())
        link = next(match[0] for line in lines if (match := re.search(r"http://\S+", line)))
        page.goto(link)
        page.wait_for_url("**/load")
        page.goto(f"{link.partition(ENTRANCE)[0]}/assess")
        page.get_by_role("button", name="Evaluate all combinations").click()
        page.locator(".spotted rect[data-htmx-powered]").nth(30).click()
        page.get_by_text("disclosed by").first.wait_for()
        page.get_by_role("heading", name="Protection against").first.scroll_into_view_if_needed()
        page.screenshot(path=FOLDER / "workbench.png")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
