"""Reading: a file or a dataframe becomes a table."""

from pathlib import Path
from typing import Any

from shoal.errors import ReadError, did_you_mean
from shoal.progress import Hook, silent
from shoal.table import frames
from shoal.table.encoding import encode
from shoal.table.formats.format import check_options, format_of
from shoal.table.options import Options
from shoal.table.table import Source, Table
from shoal.validation import validated


def read(source: Any, *, format: str | None = None, progress: Hook | None = None, **options: Any) -> Table:  # noqa: A002
    """Read a file or a dataframe into a table.

    ``source``: a path (CSV, TSV, Parquet, Feather, Excel, JSON lines) or any frame that narwhals knows.
    ``options``: see :class:`shoal.table.options.Options`, such as ``separator=";"`` or ``text=["code"]``.

    >>> import shoal
    >>> shoal.read({"sex": ["f", "m", None]})
    Table: 3 records × 1 column
    column  kind  role                values
    sex     text        some missing       2
    """
    if format is not None:
        options["format"] = format
    chosen = validated(Options, options, where="The reading options", error=ReadError)
    hook = progress or silent
    if isinstance(source, Table):
        return source
    if isinstance(source, str | Path):
        path = Path(source)
        _check_file(path)
        table = format_of(path, chosen.format).read(path, chosen, hook)
    else:
        check_options(chosen, "frame", ())
        if chosen.format is not None:
            raise ReadError("A frame has no file format.", hint="Leave format out.")
        arrow, library = frames.to_arrow(source)
        encoded = [encode(name, arrow.column(name), chosen) for name in arrow.column_names]
        table = Table.of(encoded, arrow.num_rows, Source("frame", library))
    for name in chosen.text:
        table[name]  # raises if there is none
    return table


def _check_file(path: Path) -> None:
    if not path.exists():
        raise ReadError(f"There is no file '{path}'.", hint=_similar(path))
    if path.is_dir():
        raise ReadError(f"'{path}' is a folder, not a file.")
    if path.stat().st_size == 0:
        raise ReadError(f"The file '{path.name}' is empty.")


def _similar(path: Path) -> str | None:
    if not path.parent.is_dir():
        return f"There is no folder '{path.parent}' either."
    return did_you_mean(path.name, (file.name for file in path.parent.iterdir()))
