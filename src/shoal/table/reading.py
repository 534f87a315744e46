"""Reading: files, dataframes and database tables are converted to tables."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.engines.disk import Spool
from shoal.engines.spark import SparkFrame
from shoal.errors import ColumnError, ReadError
from shoal.fileset import note_inputs
from shoal.integrity import check_whole
from shoal.progress import Hook, Progress, silent
from shoal.remedy import Option, by
from shoal.table import frames
from shoal.table.databases.database import Address, Stored, database_of, is_address
from shoal.table.encoding import encode
from shoal.table.files import files_of
from shoal.table.formats.format import Format, check_options, format_of
from shoal.table.options import Options
from shoal.table.outside import is_of_spark, read_by_spark
from shoal.table.part import Part, check_same_names, disagreeing, together
from shoal.table.table import Source, Table
from shoal.validation import validated

SAMPLE = 1 << 18  # records of a sample, from which growth is estimated
_IN_TEXT = ("csv", "jsonlines")  # formats in which kinds of columns are inferred


def read(source: Any, *, format: str | None = None, progress: Hook | None = None, **options: Any) -> Table:  # noqa: A002
    """Read files, a dataframe or a database table.

    ``source``: a path (CSV, TSV, Parquet, Feather, Excel, JSON lines, SAS, SPSS, Stata, DuckDB), a folder or a pattern
    of such files, any frame that narwhals supports, or an address such as
    ``postgresql://user@host/hospital?table=patients``. ``options``: see :class:`shoal.table.options.Options`, for
    example ``separator=";"``, ``text=["code"]`` or, for tables larger than memory, ``engine="disk"``.

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
        _check_unread(chosen)
        table = source
    elif isinstance(source, Stored):
        table = source.read(chosen, hook)
    elif is_address(source):
        table = _read_stored(source, chosen, hook)
    elif isinstance(source, str | Path):
        files = tuple(path.resolve() for path in files_of(source))
        for path in files:
            check_whole(path)
        table = _read_files(files, chosen, hook)
        table = replace(table, source=replace(table.source, files=files))
        note_inputs(files)
    else:
        table = _read_frame(source, chosen, hook)
    for name in chosen.text:
        table[name]  # raises an error if there is no such column
    return table.only(chosen.columns) if chosen.columns else table


def _check_unread(options: Options) -> None:
    """Reject reading options for a table that has already been read."""
    default = Options()
    for name in sorted(options.model_fields_set - {"columns"}):
        if getattr(options, name) != getattr(default, name):
            raise ReadError(
                "already-read",
                "The option '{option}' does not apply to a table that has already been read.",
                remedy="Give it when the file or frame is read: shoal.read(…, {option}=…).",
                option=name,
            )


def read_sample(source: Any, *, most: int = SAMPLE, progress: Hook | None = None, **options: Any) -> tuple[Table, int]:
    """Read a sample of records into memory, and return it with the exact or estimated number of records.

    >>> table, records = read_sample({"age": [31, 34]})
    >>> table.records, records
    (2, 2)
    """
    options = {name: value for name, value in options.items() if name != "engine"}
    chosen = validated(Options, options, where="The reading options", error=ReadError)
    if is_address(source):
        address = Address.parse(source).of(chosen.table)
        with database_of(address).opened(address, [address.table]) as (stored,):
            return stored.sample(chosen, most)
    if not isinstance(source, str | Path):
        table = read(source, progress=progress, **options)
        return table, table.records
    files = files_of(source)
    table, records = format_of(files[0], chosen.format).sample(files, chosen, most)
    return (table.only(chosen.columns) if chosen.columns else table), records


def _read_stored(source: Any, options: Options, progress: Hook) -> Table:
    """Read a database table."""
    if options.format is not None:
        raise ReadError("option-of-format", "A database table has no file format.", remedy="Omit format.")
    address = Address.parse(source).of(options.table)
    with database_of(address).opened(address, [address.table]) as (stored,):
        return stored.read(options, progress)


def _read_frame(source: Any, options: Options, progress: Hook) -> Table:
    check_options(options, "frame", ())
    if options.format is not None:
        raise ReadError("option-of-format", "A frame has no file format.", remedy="Omit format.")
    if is_of_spark(source):
        return read_by_spark(SparkFrame(source, "the frame"), options, progress, "frame")
    arrow, library = frames.to_arrow(source)
    encoded = [encode(name, arrow.column(name), options) for name in arrow.column_names]
    table = Table.of(encoded, arrow.num_rows, Source("frame", library))
    if options.engine == "memory":
        return table
    if options.engine != "disk":
        raise ReadError(
            "engine-of-source",
            "A frame cannot be processed by the engine {engine}.",
            remedy="Write it to a Parquet file first.",
            engine=options.engine,
        )
    spool = Spool()
    return together([Part.of(table, spool)], spool)


def _read_files(files: tuple[Path, ...], options: Options, progress: Hook) -> Table:
    formats = {format_of(path, options.format) for path in files}
    if len(formats) > 1:
        raise ReadError(
            "several-formats",
            "The files have several formats: {formats:listed}.",
            remedy="Give the files of one format by a pattern, such as 'folder/*.csv'.",
            formats=sorted(format_.name for format_ in formats),
        )
    chosen = formats.pop()
    if options.engine in {"duckdb", "spark"}:
        return chosen.counted(files, options, progress)
    if len(files) == 1 and options.engine == "memory":
        return chosen.read(files[0], options, progress)
    spool = Spool() if options.engine == "disk" else None
    return together(_parts(chosen, files, options, progress, spool), spool)


def _parts(
    chosen: Format, files: tuple[Path, ...], options: Options, progress: Hook, spool: Spool | None
) -> list[Part]:
    """Read all files of a table.

    In text formats, a column of different kinds in several files is read as text. In other formats it is rejected.
    """
    parts = []
    for done, path in enumerate(files):
        hook = progress if len(files) == 1 else silent
        parts.append(chosen.part(path, options, hook, spool))
        progress(Progress("reading", done + 1, len(files)))
    check_same_names(parts, [path.name for path in files])
    differing = disagreeing(parts)
    if not differing:
        return parts
    if chosen.name not in _IN_TEXT or {*differing} <= {*options.text}:
        raise ColumnError(
            "different-kinds",
            "Column '{column}' is not of the same kind in all files.",
            remedy=by("Read it as text", Option("text", [differing[0]])),
            column=differing[0],
        )
    return _parts(chosen, files, options.model_copy(update={"text": (*options.text, *differing)}), progress, spool)
