"""CSV and its relatives: text with separators, in whatever encoding and dialect it comes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from shoal.errors import ReadError
from shoal.progress import Hook, Progress
from shoal.table.column import Column, as_text
from shoal.table.formats.dialect import SAMPLE, Dialect, detect, wrong_encoding
from shoal.table.formats.format import FORMATS, Format, Reading, check_options
from shoal.table.formats.header import Header
from shoal.table.formats.lines import text_refusal, write_lines
from shoal.table.formats.options import Options, Written
from shoal.table.inference import MARKERS, infer
from shoal.table.interned import InternedText
from shoal.table.kind import Kind
from shoal.table.raw import Encoded, Entries, RawColumn
from shoal.table.table import Table

BLOCK = 1 << 19  # bytes read at a time: a block and its codes stay in the cache
_FORMULA = r"^[=+\-@\t\r]"


class Csv(Format):
    """Text with separators."""

    name = "csv"
    suffixes = (".csv", ".tsv", ".tab", ".txt", ".csv.gz", ".tsv.gz")

    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read the file in one pass: blocks of text become codes and are let go."""
        check_options(options, self.name, ("separator", "decimal", "encoding", "header", "markers"))
        dialect = detect(path, options.encoding, options.separator)
        if not dialect.rows:
            raise ReadError(f"The file '{path.name}' is empty.")
        try:
            return _Reader(path, dialect, options, progress).table()
        except _EncodingError:
            if options.encoding is not None or _is_surely_utf8(dialect):
                raise wrong_encoding(dialect.encoding) from None
        fallback = detect(path, "cp1252" if _decodes(path, "cp1252") else "latin-1", options.separator)
        return _Reader(path, fallback, options, progress).table()

    def write(self, table: Table, path: Path, how: Written, progress: Hook) -> None:
        """Render each dictionary entry once, then put the records together from these pieces."""
        separator = how.separator or ","
        pieces = [_pieces(column, separator, how) for column in table.columns]
        pieces[-1] = pc.binary_join_element_wise(pieces[-1], "\n", "")
        names = _quoted(pa.array(table.names, pa.string()), separator).to_pylist()
        with path.open("wb") as file:
            file.write(f"{separator.join(names)}\n".encode())
            write_lines(file, table, pieces, separator, progress)

    def refusal(self, column: Column) -> str | None:
        """Refuse what would come back as something else."""
        return text_refusal(column)


FORMATS.register("csv")(Csv())


class _EncodingError(Exception):
    """Bytes that are no characters turned up behind the sample."""


def _is_surely_utf8(dialect: Dialect) -> bool:
    """Tell whether the sample has characters beyond ASCII, which by chance are never valid UTF-8."""
    return any(not text.isascii() for row in dialect.rows for text, _ in row)


def _decodes(path: Path, encoding: str) -> bool:
    try:
        with path.open(encoding=encoding, newline="") as file:
            while file.read(SAMPLE):
                pass
    except UnicodeDecodeError:
        return False
    return True


class _Reader:
    """One pass over one file."""

    def __init__(self, path: Path, dialect: Dialect, options: Options, progress: Hook) -> None:
        self._path = path
        self._dialect = dialect
        self._options = options
        self._progress = progress
        self._ragged: list[tuple[int, int]] = []
        self._threads = True
        self._header = Header.of([text for text, _ in dialect.rows[0]], options)
        self._quoted = dialect.quoted_columns()

    def table(self) -> Table:
        columns = [InternedText() for _ in self._header.names]
        rows = 0
        for batch in self._batches():
            for column, place in zip(columns, self._header.places, strict=True):
                column.add(batch.column(place))
            rows += batch.num_rows
            self._progress(Progress("reading", rows, self._expected_rows()))
        self._check_ragged()
        notes: list[str] = []
        taken = [column.taken() for column in columns]
        encoded = [self._finished(i, raw, values, notes) for i, (raw, values) in enumerate(taken)]
        return Reading(encoded, rows, self._details(), tuple(notes)).table("csv")

    def _expected_rows(self) -> int:
        return int(self._path.stat().st_size / self._dialect.bytes_per_row)

    def _details(self) -> dict[str, str]:
        return {"encoding": self._dialect.encoding, "separator": self._dialect.separator}

    def _batches(self) -> Iterator[pa.RecordBatch]:
        try:
            with pacsv.open_csv(str(self._path), **self._arrow_options()) as reader:
                yield from reader
        except pa.ArrowInvalid as error:
            if "UTF8" in str(error) or "UTF-8" in str(error):
                raise _EncodingError from None
            raise self._broken(str(error)) from None
        except UnicodeError:
            raise _EncodingError from None

    def _arrow_options(self) -> dict[str, Any]:
        width = len(self._dialect.rows[0])
        names = [f"f{place}" for place in range(width)]
        return {
            "read_options": pacsv.ReadOptions(
                block_size=BLOCK,
                use_threads=self._threads,
                encoding=self._dialect.encoding,
                autogenerate_column_names=True,
                skip_rows_after_names=int(self._options.header is not False),
            ),
            "parse_options": pacsv.ParseOptions(
                delimiter=self._dialect.separator,
                newlines_in_values=True,
                ignore_empty_lines=width > 1,  # the only column may be missing
                invalid_row_handler=self._note_ragged,
            ),
            "convert_options": pacsv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=["", *self._options.markers],
            ),
        }

    def _note_ragged(self, row: Any) -> str:
        self._ragged.append((row.number, row.actual_columns))
        return "skip"

    def _check_ragged(self) -> None:
        if not self._ragged:
            return
        count, self._threads, self._ragged = len(self._ragged), False, []
        for _ in self._batches():  # only a single thread knows which rows these are
            if self._ragged:
                break
        number, width = self._ragged[0]
        raise ReadError(
            f"{count:,} rows of '{self._path.name}' do not have {len(self._dialect.rows[0])} fields, as "
            f"the first row has. The first is row {number:,}, with {width}.",
            hint=f"The separator is taken to be {self._dialect.separator!r}; say so if it is another. A text that "
            "holds the separator must be quoted.",
        )

    def _broken(self, message: str) -> ReadError:
        if "straddling" in message:
            return ReadError(
                f"'{self._path.name}' has a record longer than {BLOCK >> 10} kB, or a quote that is never closed."
            )
        return ReadError(
            f"'{self._path.name}' is no readable text table.",
            hint="Open it in an editor and check that its rows are lines with a separator between the fields.",
        )

    def _finished(self, index: int, raw: RawColumn, values: pa.LargeStringArray, notes: list[str]) -> Encoded:
        name = self._header.names[index]
        entries = Entries.read(Kind.TEXT, values, self._options.suppressed)
        if name in self._options.text or self._header.places[index] in self._quoted:
            return raw.encoded(name, entries)
        read = infer(entries, decimal=self._options.decimal or ".")
        if read.kind is Kind.TEXT and self._options.decimal is None and self._dialect.separator != ",":
            read = infer(entries, decimal=",")
            if read.kind is not Kind.TEXT:
                notes.append(f"Column '{name}' is written with decimal commas.")
        notes += _on_markers(name, read)
        return raw.encoded(name, read)


def _on_markers(name: str, read: Entries) -> list[str]:
    """Say what became of cells such as NA: missing among numbers, text among text."""
    if read.kind is not Kind.TEXT:
        found = read.values.null_count > 0
        return [f"Column '{name}' ({read.kind}) has cells such as NA or . that were read as missing."] * found
    found = pc.any(pc.is_in(read.values, pa.array(MARKERS[1:], read.values.type))).as_py()
    return [f"Column '{name}' (text) has cells such as NA or ? that were kept as text; see the option markers."] * bool(
        found
    )


def _pieces(column: Column, separator: str, how: Written) -> pa.Array:
    """Return what each code of a column is written as; missing is nothing at all."""
    text = as_text(column.values)
    if how.excel_safe and column.kind in {Kind.TEXT, Kind.CATEGORY}:
        text = pc.if_else(pc.match_substring_regex(text, _FORMULA), pc.binary_join_element_wise("'", text, ""), text)
    looks_different = column.kind is Kind.TEXT and _would_be_inferred(column.values)
    text = _always_quoted(text) if looks_different else _quoted(text, separator)
    return pa.concat_arrays([text, pa.array([""] * column.missing + ["*"] * column.suppressed, pa.string())])


def _would_be_inferred(values: pa.Array) -> bool:
    """Tell whether a reader would take a column of text for something else, unless it is quoted."""
    entries = Entries.read(Kind.TEXT, values.cast(pa.large_string()))
    return any(infer(entries, decimal=decimal).kind is not Kind.TEXT for decimal in (".", ","))


def _quoted(text: pa.Array, separator: str) -> pa.Array:
    """Quote what needs it: separators, quotes, line ends, and empty text, which is not missing."""
    special = pc.match_substring_regex(text, rf'^$|[{separator}"\r\n]')
    return pc.if_else(special, _always_quoted(text), text)


def _always_quoted(text: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
