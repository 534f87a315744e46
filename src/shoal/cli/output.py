"""What goes where: the result to stdout, everything else to stderr."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shoal import __version__
from shoal.progress import Hook, Progress, silent
from shoal.words import counted, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


_MOST_NOTES = 5  # on the screen


def console(*, stderr: bool = False) -> "Console":
    """Return a console for people; colours only where there is a terminal and NO_COLOR is not set."""
    from rich.console import Console
    from rich.text import Text

    class PrintableConsole(Console):
        """Shows names and values of the data, in which there may be commands for the terminal."""

        def render_str(self, text: str, **options: Any) -> Text:
            rendered = super().render_str(text, **options)
            rendered.plain = printable(rendered.plain)
            return rendered

    return PrintableConsole(stderr=stderr, highlight=False, soft_wrap=False)


def grid(*headings: str) -> "Table":
    """Return a table without lines: the first column to the left, the others to the right."""
    from rich.table import Table

    sheet = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for place, heading in enumerate(headings):
        sheet.add_column(heading, justify="right" if place else "left", overflow="fold")
    return sheet


def plain(text: object) -> str:
    """Return text of the data so that nothing in it is taken for markup, nor does anything to the terminal."""
    from rich.markup import escape

    return escape(printable(str(text)).replace("\n", "\ufffd").replace("\t", "\ufffd"))


def document(command: str, result: dict[str, Any]) -> None:
    """Print the one JSON document that ``--json`` promises."""
    whole = {"shoal": __version__, "command": command, "result": result}
    result_text(json.dumps(whole, ensure_ascii=False, indent=2, default=str) + "\n")


def result_text(text: str) -> None:
    """Print a result that programs read: in UTF-8, whatever the terminal speaks."""
    sys.stdout.flush()
    if hasattr(sys.stdout, "buffer"):
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    else:
        sys.stdout.write(text)


def remark(text: str) -> None:
    """Print a line beside the result."""
    sys.stderr.write(f"{printable(text)}\n")


def notes(texts: Iterable[str], *, verbose: bool) -> None:
    """Print notes beside the result: the first ones, or all of them."""
    every = list(dict.fromkeys(texts))
    shown = every if verbose else every[:_MOST_NOTES]
    for text in shown:
        remark(f"Note: {text}")
    if len(shown) < len(every):
        remark(f"{counted(len(every) - len(shown), 'further note')}: add --verbose.")


@contextmanager
def progress_bar() -> Iterator[Hook]:
    """Give a hook that draws a bar on stderr, if somebody is there to see it."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.progress import Progress as Bar

    with Bar(console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def hook(progress: Progress) -> None:
            bar.update(task, description=progress.note, completed=progress.done, total=progress.total)

        yield hook
