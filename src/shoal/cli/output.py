"""Output of commands: the result goes to stdout, everything else to stderr."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shoal import __version__
from shoal.progress import Hook, Progress, silent
from shoal.words import counted, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


_MOST_NOTES = 5  # maximum number of notes shown without --verbose


def console(*, stderr: bool = False) -> "Console":
    """Return a console; colours are used only in a terminal, unless NO_COLOR is set."""
    from rich.console import Console
    from rich.text import Text

    class PrintableConsole(Console):
        """Console that replaces terminal control characters in names and values of the data."""

        def render_str(self, text: str, **options: Any) -> Text:
            rendered = super().render_str(text, **options)
            rendered.plain = printable(rendered.plain)
            return rendered

    return PrintableConsole(stderr=stderr, highlight=False, soft_wrap=False)


def grid(*headings: str) -> "Table":
    """Return a table without lines: the first column is left-aligned, the others are right-aligned."""
    from rich.table import Table

    sheet = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for place, heading in enumerate(headings):
        sheet.add_column(heading, justify="right" if place else "left", overflow="fold")
    return sheet


def plain(text: object) -> str:
    """Escape markup and terminal control characters in text of the data."""
    from rich.markup import escape

    return escape(printable(str(text)).replace("\n", "\ufffd").replace("\t", "\ufffd"))


def document(command: str, result: dict[str, Any]) -> None:
    """Print the JSON document of ``--json``."""
    whole = {"shoal": __version__, "command": command, "result": result}
    result_text(json.dumps(whole, ensure_ascii=False, indent=2, default=str) + "\n")


def result_text(text: str) -> None:
    """Print a machine-readable result in UTF-8, whatever the encoding of the terminal."""
    sys.stdout.flush()
    if hasattr(sys.stdout, "buffer"):
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    else:
        sys.stdout.write(text)


def remark(text: str) -> None:
    """Print a line to stderr."""
    sys.stderr.write(f"{printable(text)}\n")


def each_table(results: Mapping[str, Any], show: Callable[[Any, "Console"], None], out: "Console") -> None:
    """Print the results for the tables of a dataset, one after the other, each under the name of the table."""
    for place, (name, result) in enumerate(results.items()):
        out.print(f"{chr(10) if place else ''}[bold]Table {plain(name)}[/bold]")
        show(result, out)


class Notes:
    """The notes of a command, printed beside its result: at most five, or all of them (``--verbose``)."""

    def __init__(self, *, verbose: bool) -> None:
        self._verbose, self._shown, self._hidden = verbose, set[str](), set[str]()

    def show(self, texts: Iterable[str]) -> None:
        """Print notes, the most important first, each once."""
        for text in texts:
            if text in self._shown or text in self._hidden:
                continue
            if self._verbose or len(self._shown) < _MOST_NOTES:
                self._shown.add(text)
                remark(f"Note: {text}")
            else:
                self._hidden.add(text)

    def show_last(self, texts: Iterable[str]) -> None:
        """Print the last notes of a command, and the number of notes that were not printed."""
        self.show(texts)
        if self._hidden:
            remark(f"{counted(len(self._hidden), 'further note')}: add --verbose.")


@contextmanager
def progress_bar() -> Iterator[Hook]:
    """Provide a hook that draws a progress bar on stderr, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.progress import Progress as Bar

    with Bar(console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def hook(progress: Progress) -> None:
            bar.update(task, description=progress.note, completed=progress.done, total=progress.total)

        yield hook
