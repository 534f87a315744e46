"""CSV and related formats: delimited text of any encoding and dialect."""

import io
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from shoal.errors import ReadError
from shoal.kernels.cells import CellTexts
from shoal.kernels.quoting import scan_quotes
from shoal.progress import Hook, Progress, silent
from shoal.remedy import Option, by
from shoal.scratch import scratch_folder
from shoal.table.column import Column
from shoal.table.formats.csv_cells import harmless, header, pieces
from shoal.table.formats.dialect import (
    SEPARATORS,
    Dialect,
    Utf8File,
    detect,
    is_compressed,
    utf8_blocks,
    wrong_encoding,
)
from shoal.table.formats.format import FORMATS, Format, Reading, check_options
from shoal.table.formats.header import Header, looks_like_data
from shoal.table.formats.lines import text_refusal, write_lines
from shoal.table.formats.plain import LARGEST_RECORD, NotPlainError, plain_columns
from shoal.table.formats.understood import Understood, needs_quotes, with_dates
from shoal.table.inference import infer, is_marker
from shoal.table.interned import InternedText
from shoal.table.kind import Kind
from shoal.table.options import Options, Written
from shoal.table.raw import Encoded, Entries
from shoal.table.reading_note import READ_AS_MISSING, Concern, ReadingNote
from shoal.table.table import Table

_SMALL = 1 << 24  # bytes; a smaller file is read completely instead of sampled
BLOCK = 1 << 19  # bytes read at a time, so that a block and its codes stay in the cache
_COMMAS = "Numbers with decimal commas in {columns}; shoal writes decimal points."
_KEPT_AS_TEXT = (
    "In text columns, codes such as NA or ? are kept as values: {columns}. To read them as missing, list them "
    "in the import setting 'markers'."
)
_POINTS_AS_TEXT = "Points may be thousands separators in {columns}, read as text."
_POINTS_AS_DECIMALS = "Points may be thousands separators in {columns}, read as decimal points."
_THOUSANDS = r"^-?\d{1,3}(\.\d{3})+$"


class Csv(Format):
    """Delimited text, such as CSV and TSV."""

    name = "csv"
    infers = frozenset({Kind.NUMBER, Kind.TEXT})
    suffixes = (".csv", ".tsv", ".tab", ".txt", ".csv.gz", ".tsv.gz", ".tab.gz", ".txt.gz")
    writes = (".csv", ".tsv", ".tab", ".txt")

    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read the file; if it contains bytes that are invalid in one encoding, retry with the next likely encoding."""
        check_options(options, self.name, ("separator", "decimal", "encoding", "header", "skip", "unnamed"))
        dialect = detect(path, encoding=options.encoding, separator=options.separator, skip=options.skip)
        for encoding in dialect.encodings:
            for block in (BLOCK, LARGEST_RECORD):
                try:
                    return _Reader(path, dialect, encoding, options, progress, block).table()
                except _EncodingError:
                    break
                except _LongRecordError:
                    continue
        raise wrong_encoding(dialect.encodings[0])

    def sample(self, files: tuple[Path, ...], options: Options, most: int) -> tuple[Table, int]:
        """Return the first records of the first file, and the number of records estimated from their length."""
        path = files[0]
        size = sum(file.stat().st_size for file in files)
        if is_compressed(path) or path.stat().st_size < _SMALL:
            return super().sample(files, options, most)
        with scratch_folder() as folder, path.open("rb") as whole:
            head = folder / path.name
            lines = list(islice(whole, most))
            while len(lines) > 1 and b"".join(lines).count(b'"') % 2:
                lines.pop()  # a quoted text continues after the last line
            head.write_bytes(b"".join(lines))
            table = self.read(head, options, silent)
            return table, round(table.records * size / head.stat().st_size)

    def write(self, table: Table, path: Path, how: Written, progress: Hook) -> None:
        """Render each dictionary entry once, then assemble the records from these pieces."""
        separator = how.separator or ","
        special = separator + "".join(SEPARATORS) * (len(table.columns) == 1)  # a single column must not look like two
        rendered = [pieces(column, special, how) for column in table.columns]
        rendered[-1] = pc.binary_join_element_wise(rendered[-1], "\n", "")
        names = harmless(pa.array(table.names, pa.string()), how)
        with path.open("wb") as file:
            file.write(f"{separator.join(header(names, special))}\n".encode())
            write_lines(file, table, rendered, separator, progress)

    def refusal(self, column: Column) -> str | None:
        """Return the reason why a column would be read back differently, or None."""
        return text_refusal(column)

    def table_refusal(self, table: Table) -> str | None:
        """Return a reason if the column names would not be recognised as a header, otherwise None."""
        if all(looks_like_data.fullmatch(name) for name in table.names):
            return "all its column names look like data"
        return None


FORMATS.register("csv")(Csv())


class _LongRecordError(Exception):
    """A record does not fit into a block."""


class _EncodingError(Exception):
    """The file contains invalid bytes after the sample from which the encoding was detected."""


class _Reader:
    """Reader of one file in one encoding; blocks of text are converted to codes and released."""

    def __init__(  # noqa: PLR0913, PLR0917 - all inputs of reading a file
        self, path: Path, dialect: Dialect, encoding: str, options: Options, progress: Hook, block: int
    ) -> None:
        self._block = block
        self._path = path
        self._dialect = dialect
        self._encoding = encoding
        self._options = options
        self._progress = progress
        self._ragged: list[tuple[int, int]] = []
        self._threads = True
        self._header = Header.of(dialect.first_row, options)
        self._notes = list(self._header.notes)

    def table(self) -> Table:
        quoted: frozenset[int] = frozenset()
        taken = self._plain()
        if taken is None:
            quoted = self._quoted_columns()
            taken = self._interned(self._arrow_blocks())
            self._check_ragged()
        columns, rows = taken
        self._note_encoding()
        columns.reverse()  # each column is released as soon as it is encoded
        understood = [self._understood(columns.pop(), place, quoted) for place in range(len(columns))]
        encoded = self._without_thousands(with_dates(understood))
        details = {"encoding": self._encoding, "separator": self._dialect.separator}
        return Reading(encoded, rows, details, tuple(self._notes)).table("csv")

    def _plain(self) -> tuple[list[InternedText], int] | None:
        """Split the file at separators and line ends only, or return None if it needs a full CSV parser."""
        head = self._dialect.skip + int(self._options.header is not False)
        text = iter(()) if self._nothing_but_names else self._text()
        blocks = plain_columns(text, self._dialect.separator.encode(), len(self._dialect.first_row), head)
        try:
            return self._interned(blocks)
        except NotPlainError:
            return None
        except UnicodeDecodeError:
            pass
        raise _EncodingError  # outside the handler, to drop the original error, which contains bytes of the file

    def _interned(self, blocks: Iterator[Sequence[CellTexts]]) -> tuple[list[InternedText], int]:
        """Intern the columns of the file block by block, and return them with the number of rows."""
        columns = [InternedText() for _ in self._header.names]
        rows = 0
        for block in blocks:
            for column, place in zip(columns, self._header.places, strict=True):
                column.add(block[place])
            rows += len(block[0])
            self._progress(Progress("reading", rows, self._expected_rows()))
        return columns, rows

    def _expected_rows(self) -> int:
        return int(self._path.stat().st_size / self._dialect.bytes_per_row)

    def _note_encoding(self) -> None:
        if self._options.encoding is None and not self._encoding.startswith("utf"):
            read = f"The file is not in UTF-8; it was read as {self._encoding}."
            self._notes.append(ReadingNote(read, Concern.VALUES))

    def _quoted_columns(self) -> frozenset[int]:
        """Validate the quotes of the whole file, if any, and return the columns that are quoted on purpose."""
        if not any(b'"' in block for block in self._text()):
            return frozenset()
        quoted = scan_quotes(self._text(), self._dialect.separator.encode(), len(self._dialect.first_row))
        for row, problem in (
            (quoted.unclosed, "a quote is opened and never closed"),
            (quoted.broken, "text follows a closing quote"),
        ):
            if row is not None:
                raise ReadError(
                    "bad-quotes",
                    "In row {row:,} of '{file}' {problem}.",
                    remedy='A quote inside quoted text must be doubled: "say ""hi""".',
                    row=row + 1,
                    file=self._path.name,
                    problem=problem,
                )
        return quoted.columns if self._options.header is not False else frozenset()

    def _text(self) -> Iterator[bytes]:
        failed = False
        try:
            yield from utf8_blocks(self._path, self._encoding, size=BLOCK)
        except UnicodeError:
            failed = True
        if failed:
            raise _EncodingError

    @property
    def _nothing_but_names(self) -> bool:
        return self._dialect.single_row and self._options.header is not False

    def _arrow_blocks(self) -> Iterator[Sequence[CellTexts]]:
        for batch in self._batches():
            yield [CellTexts.of(column) for column in batch.columns]

    def _batches(self) -> Iterator[pa.RecordBatch]:
        if self._nothing_but_names:
            return
        trouble: str | None = None
        try:
            with pacsv.open_csv(self._source(), **self._arrow_options()) as reader:
                yield from reader
        except pa.ArrowInvalid as error:
            trouble = str(error)
        except UnicodeError:
            trouble = "UTF"
        if trouble is not None and "UTF" in trouble:
            raise _EncodingError
        if trouble is not None and "straddling" in trouble and self._block < LARGEST_RECORD:
            raise _LongRecordError
        if trouble is not None:
            raise self._broken(trouble)

    def _source(self) -> Any:
        """Return the input of Arrow's parser: the file itself if possible, otherwise its text in UTF-8."""
        if self._encoding == "utf-8" and self._dialect.ends_well:
            return str(self._path)
        return io.BufferedReader(Utf8File(self._path, self._encoding), self._block)

    def _arrow_options(self) -> dict[str, Any]:
        width = len(self._dialect.first_row)
        return {
            "read_options": pacsv.ReadOptions(
                block_size=self._block,
                use_threads=self._threads,
                skip_rows=self._dialect.skip,
                autogenerate_column_names=True,
                skip_rows_after_names=int(self._options.header is not False),
            ),
            "parse_options": pacsv.ParseOptions(
                delimiter=self._dialect.separator,
                newlines_in_values=True,
                ignore_empty_lines=width > 1,  # an empty line is a missing value of a single column
                invalid_row_handler=self._note_ragged,
            ),
            "convert_options": pacsv.ConvertOptions(
                column_types={f"f{place}": pa.string() for place in range(width)},
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=[""],
            ),
        }

    def _note_ragged(self, row: Any) -> str:
        self._ragged.append((row.number, row.actual_columns))
        return "skip"

    def _check_ragged(self) -> None:
        if not self._ragged:
            return
        count, self._threads, self._ragged = len(self._ragged), False, []
        for _ in self._batches():  # row numbers are known only with a single thread
            if self._ragged:
                break
        number, width = self._ragged[0]
        raise ReadError(
            "ragged-rows",
            "{rows:row} of '{file}' {verb} not have {fields:field}, as the first row has. The first of them is row "
            "{number:,}, with {width:field}.",
            remedy=[
                "The separator was detected as {separator!r}.",
                by("Give the right separator", Option("separator")),
                "Text that contains the separator must be quoted.",
                by("Skip lines above the header", Option("skip", 1)),
            ],
            rows=count,
            verb="does" if count == 1 else "do",
            file=self._path.name,
            fields=len(self._dialect.first_row),
            number=number,
            width=width,
            separator=self._dialect.separator,
        )

    def _broken(self, message: str) -> ReadError:
        if "straddling" in message:
            return ReadError(
                "record-too-long",
                "'{file}' has a record of more than {size} MB.",
                file=self._path.name,
                size=LARGEST_RECORD >> 20,
            )
        return ReadError(
            "not-a-text-table",
            "'{file}' is not a readable text table.",
            remedy="Check in an editor that its rows are lines with a separator between the fields.",
            file=self._path.name,
        )

    def _understood(self, column: InternedText, place: int, quoted: frozenset[int]) -> Understood:
        """Infer the kind of a column and encode it."""
        raw, text = column.taken()
        name = self._header.names[place]
        entries = Entries.read(Kind.TEXT, text, self._options.suppressed, self._options.markers)
        marked = is_marker(text)
        is_quoted = self._header.places[place] in quoted
        seems, commas = (entries, False) if name in self._options.text else self._inferred(entries, marked)
        read, commas = (entries, False) if is_quoted else (seems, commas)
        if commas:
            self._notes.append(ReadingNote(_COMMAS, Concern.VALUES, (name,)))
        self._notes += _on_markers(name, text, read, marked)
        doubtful = self._guesses_decimals and not commas and _has_thousands(text, read)
        otherwise = partial(raw.copy().encoded, name, entries) if doubtful else None
        dates = partial(raw.copy().encoded, name, seems) if is_quoted and seems.kind.dated else None
        ordinary = is_quoted and seems.kind is Kind.TEXT and not needs_quotes(text, self._dialect.separator)
        return Understood(raw.encoded(name, read), commas, otherwise, dates, ordinary)

    @property
    def _guesses_decimals(self) -> bool:
        return self._options.decimal is None and self._dialect.separator != ","

    def _inferred(self, entries: Entries, marked: NDArray[np.bool_]) -> tuple[Entries, bool]:
        """Return the interpreted entries, and whether they are numbers with decimal commas."""
        read = infer(entries, decimal=self._options.decimal or ".", marked=marked)
        if read.kind is not Kind.TEXT or not self._guesses_decimals:
            return read, False
        read = infer(entries, decimal=",", marked=marked)
        return read, read.kind is Kind.NUMBER

    def _without_thousands(self, understood: list[Understood]) -> list[Encoded]:
        """If any column has decimal commas, keep columns as text whose points may separate thousands."""
        commas = any(column.commas for column in understood)
        encoded = [column.as_text() if commas and column.as_text else column.encoded for column in understood]
        for column in understood:
            if column.as_text:
                reading = _POINTS_AS_TEXT if commas else _POINTS_AS_DECIMALS
                self._notes.append(ReadingNote(reading, Concern.VALUES, (column.encoded.column.name,)))
        return encoded


def _has_thousands(text: pa.Array, read: Entries) -> bool:
    """Return whether all points in a column of numbers could separate thousands."""
    if read.kind is not Kind.NUMBER:
        return False
    pointed = text.filter(pc.match_substring(text, "."))
    return bool(pc.all(pc.match_substring_regex(pointed, _THOUSANDS)).as_py())


def _on_markers(name: str, text: pa.Array, read: Entries, marked: NDArray[np.bool_]) -> list[ReadingNote]:
    """Return notes on cells such as NA: missing in columns of numbers, text in columns of text."""
    if not marked.any() or not pc.any(pc.greater(pc.binary_length(text.filter(pa.array(marked))), 0)).as_py():
        return []
    if read.kind is Kind.TEXT and read.values.null_count == 0:
        return [ReadingNote(_KEPT_AS_TEXT, Concern.VALUES, (name,))]
    return [ReadingNote(READ_AS_MISSING, Concern.VALUES, (name,))]
