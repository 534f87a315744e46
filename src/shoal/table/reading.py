"""Reading: a file or a dataframe becomes a table."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from shoal.errors import ReadError, did_you_mean
from shoal.progress import Hook, silent
from shoal.table import frames
from shoal.table.encoding import encode
from shoal.table.formats.format import Options, format_of
from shoal.table.table import Source, Table


def read(source: Any, *, format: str | None = None, progress: Hook | None = None, **options: Any) -> Table:  # noqa: A002
    """Read a file or a dataframe into a table.

    ``source``: a path (CSV, TSV, Parquet, Feather, Excel, JSON lines) or any frame that narwhals knows.
    ``options``: see :class:`shoal.table.formats.format.Options`, such as ``separator=";"`` or ``text=["code"]``.

    >>> import shoal
    >>> shoal.read({"sex": ["f", "m", None]})
    Table: 3 records × 1 columns
      sex: text, 2 values, some missing
    """
    chosen = _options(options)
    hook = progress or silent
    if isinstance(source, Table):
        return source
    if isinstance(source, str | Path):
        path = Path(source)
        _check_file(path)
        return format_of(path, format).read(path, chosen, hook)
    arrow, library = frames.to_arrow(source)
    encoded = [encode(name, arrow.column(name), suppressed=chosen.suppressed) for name in arrow.column_names]
    return Table.of(encoded, arrow.num_rows, Source("frame", library))


def _options(given: dict[str, Any]) -> Options:
    known = [field.name for field in fields(Options)]
    for name in given:
        if name not in known:
            raise ReadError(
                f"There is no reading option '{name}'.",
                hint=did_you_mean(name, known) or f"There are {', '.join(known)}.",
            )
    return Options(**given)


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
