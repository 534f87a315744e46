"""The options that say how a file is read; the same for every command."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.output import progress_bar, remark

if TYPE_CHECKING:
    from shoal.table.table import Table

Source = Annotated[Path, typer.Argument(help="The data: CSV, TSV, Parquet, Feather, Excel or JSON lines.")]
Format = Annotated[str | None, typer.Option("--format", help="The file's format, if its suffix does not tell.")]
Separator = Annotated[str | None, typer.Option(help="What stands between fields. Found out if not given.")]
Decimal = Annotated[str | None, typer.Option(help="What stands before decimals: . or ,")]
Encoding = Annotated[str | None, typer.Option(help="The encoding, such as cp1252. Found out if not given.")]
Header = Annotated[bool | None, typer.Option("--header/--no-header", help="Whether the first row holds the names.")]
Unnamed = Annotated[str | None, typer.Option(help="What to do with nameless columns: refuse, drop or number.")]
Skip = Annotated[int | None, typer.Option(help="Lines above the header to leave out.")]
Suppressed = Annotated[str | None, typer.Option(help="The text that means blanked on purpose, such as *.")]
Markers = Annotated[str | None, typer.Option(help="Texts that mean missing everywhere, comma-separated: NA,?")]
Text = Annotated[str | None, typer.Option(help="Columns to keep as text, comma-separated.")]
Sheet = Annotated[str | None, typer.Option(help="The sheet of a workbook.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")]


def names(given: str | None) -> list[str] | None:
    """Split a comma-separated option."""
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]


def options(**given: Any) -> dict[str, Any]:
    """Return the reading options that were given."""
    said = {name: value for name, value in given.items() if value is not None}
    if said.get("separator") in {"\\t", "tab"}:
        said["separator"] = "\t"
    return said


def load(path: Path, options: dict[str, Any]) -> "Table":
    """Read a file, and tell what a reader should know."""
    from shoal.table.reading import read

    with progress_bar() as hook:
        table = read(path, progress=hook, **options)
    for note in table.source.notes:
        remark(f"Note: {note}")
    return table
