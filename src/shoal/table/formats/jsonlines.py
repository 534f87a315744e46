"""JSON lines: one record per line. JSON has text, numbers and Booleans; dates are inferred from text."""

import json
import re
from codecs import BOM_UTF8
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pajson

from shoal.errors import ColumnError, ReadError
from shoal.progress import Hook, Progress
from shoal.remedy import FixedText
from shoal.table.column import Column, as_text
from shoal.table.encoding import encode
from shoal.table.formats.format import FORMATS, Format, Reading, check_options, damaged
from shoal.table.formats.lines import text_refusal, write_lines
from shoal.table.inference import DATE_READERS, infer
from shoal.table.kind import Kind, kind_of
from shoal.table.names import check_names
from shoal.table.options import Options, Written
from shoal.table.raw import Entries
from shoal.table.reading_note import Concern, ReadingNote
from shoal.table.table import Table

_LONG_DECIMAL = re.compile(rb'":[ \t]*-?(?=[\d.]{19})[1-9]\d*\.\d+|":[ \t]*-?0?\.0*[1-9]\d{17}')
_ROUNDED = ReadingNote("Some numbers have more digits than a double holds, and were rounded.", Concern.VALUES)
_PLAIN = FixedText('Each line must be one object with plain values: {"age": 34, …}.')
_NO_OBJECT = re.compile(rb"(?:^|\n)[ \t\r]*[^ \t\r\n{]")
_DEEPEST = 64  # nested objects and lists; Arrow's reader crashes on thousands, and a table needs one
_MANY_OPENED = re.compile(rb"(?:[\[{][^\[{\n]*){%d}[^\n]*" % (_DEEPEST + 1))  # more openings than allowed in one line
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"?')
EXACT = 2**53  # from here on, not every integer is exact as a double


class JsonLines(Format):
    """One JSON object per line."""

    name = "jsonlines"
    infers = frozenset({Kind.NUMBER, Kind.TEXT})
    suffixes = writes = (".jsonl", ".ndjson")

    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read the lines; a text column in which all values are dates or times is read as such."""
        check_options(options, self.name, ())
        with damaged(path, "file of JSON lines in UTF-8"):
            rounded = _check_lines(path)
            table = _as_written(path)
        check_names(table.column_names)
        encoded = []
        for done, name in enumerate(table.column_names):
            progress(Progress("reading", done, table.num_columns))
            cells = table.column(name)
            _check_exact(name, cells)
            encoded.append(encode(name, cells, options, DATE_READERS))
        notes = (_ROUNDED,) if rounded else ()
        return Reading(encoded, table.num_rows, notes=notes).table(self.name)

    def write(self, table: Table, path: Path, how: Written, progress: Hook) -> None:
        """Render each dictionary entry once, then assemble the records from these pieces."""
        del how
        pieces = [_pieces(column, json.dumps(column.name, ensure_ascii=False)) for column in table.columns]
        pieces[0] = pc.binary_join_element_wise("{", pieces[0], "")
        pieces[-1] = pc.binary_join_element_wise(pieces[-1], "}\n", "")
        with path.open("wb") as file:
            write_lines(file, table, pieces, ", ", progress)

    def refusal(self, column: Column) -> str | None:
        """Return the reason why a column would be read back differently, or None."""
        values = column.values
        if column.is_text and _reads_as_dates(values):
            return "it is text that would be read back as dates"
        if pa.types.is_floating(values.type) and _any_large(values):
            return "it holds numbers of 2^53 or more, or infinite ones, which JSON readers round"
        return text_refusal(column)

    def table_refusal(self, table: Table) -> str | None:
        """Return a reason if the table has no records, because its column names would be lost; otherwise None."""
        return "a table without records would lose its columns" if table.records == 0 else None


FORMATS.register("jsonlines")(JsonLines())


def _check_lines(path: Path) -> bool:
    """Reject lines that are not objects or nested too deeply, which make Arrow's reader crash, and byte order marks.

    Return whether the file has numbers that will be rounded.
    """
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        line = _NO_OBJECT.search(data)
        rounded = _LONG_DECIMAL.search(data) is not None
        marked = data[:3] == BOM_UTF8
        nested = any(_depth(line[0]) > _DEEPEST for line in _MANY_OPENED.finditer(data))
    if nested:
        raise ReadError(
            "nested-too-deep",
            "'{file}' has lists and objects nested more than {deepest} deep.",
            remedy=_PLAIN,
            file=path.name,
            deepest=_DEEPEST,
        )
    if marked:
        raise ReadError(
            "byte-order-mark",
            "'{file}' begins with a byte order mark, which JSON does not allow.",
            remedy="Remove it.",
            file=path.name,
        )
    if line:
        raise ReadError("not-objects", "'{file}' has lines that are not objects.", remedy=_PLAIN, file=path.name)
    return rounded


def _depth(line: bytes) -> int:
    """Return the maximum nesting depth of lists and objects in a line, or in the end of a line.

    >>> _depth(b'{"a[": [[1], {}]}')
    3
    """
    signs = np.frombuffer(_STRING.sub(b"", line), np.uint8)
    steps = np.isin(signs, list(b"[{")).astype(np.int64) - np.isin(signs, list(b"]}"))
    return int(steps.cumsum().max(initial=0))


def _as_written(path: Path) -> pa.Table:
    """Read the file; if Arrow inferred timestamps, read it again with the text that the file contains."""
    table = _read(path, None)
    guessed = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
    if not guessed:
        return table
    return _read(path, pa.schema([(name, pa.string()) for name in guessed])).select(table.column_names)


def _read(path: Path, schema: pa.Schema | None) -> pa.Table:
    options = pajson.ParseOptions(explicit_schema=schema)
    trouble = ""
    try:
        table = pajson.read_json(str(path), pajson.ReadOptions(block_size=1 << 24), options)
        table.validate(full=True)  # Arrow does not check that text is valid UTF-8
    except (pa.ArrowInvalid, OSError) as error:
        trouble = str(error)
    if not trouble:
        return table
    mixed = re.search(r"Column\(/(.+?)\) changed from (\w+) to (\w+)", trouble)
    if mixed:
        name, first, other = mixed.groups()
        raise ColumnError(
            "mixed-kinds",
            "Column '{column}' of '{file}' mixes kinds of values: {first} and {other}.",
            remedy="Write all its values as text, or all as numbers.",
            column=name,
            file=path.name,
            first=first,
            other=other,
        )
    raise ReadError(
        "not-json-lines",
        "'{file}' cannot be read as JSON lines in UTF-8.",
        remedy="Each line must be one object, with each name once and numbers within the range of floating-point "
        'numbers: {{"age": 34, …}}.',
        file=path.name,
    )


def _check_exact(name: str, cells: pa.ChunkedArray) -> None:
    if pa.types.is_floating(cells.type) and _any_large(cells):
        raise ColumnError(
            "numbers-too-large",
            "Column '{column}' contains infinite numbers, or numbers so large that JSON readers round them.",
            remedy="Write them as text, in quotes, to keep their digits.",
            column=name,
        )


def _any_large(numbers: pa.Array | pa.ChunkedArray) -> bool:
    return bool(pc.any(pc.greater_equal(pc.abs(numbers.cast(pa.float64())), EXACT)).as_py())


def _reads_as_dates(values: pa.Array) -> bool:
    entries = Entries.read(Kind.TEXT, values.cast(pa.large_string()))
    return infer(entries, readers=DATE_READERS).kind is not Kind.TEXT


def _pieces(column: Column, key: str) -> pa.Array:
    """Return ``"name": value`` for each code of a column."""
    kind = kind_of(column.values.type, column.name)
    bare = (kind.numeric or kind is Kind.BOOLEAN) and not column.suppressed
    text = as_text(column.values)
    values = text if bare else _json_text(text)
    values = pa.concat_arrays([values, pa.array(["null"] * column.missing + ['"*"'] * column.suppressed, pa.string())])
    return pc.binary_join_element_wise(key, values, ": ")


def _json_text(text: pa.Array) -> pa.Array:
    return pa.array([json.dumps(value, ensure_ascii=False) for value in text.to_pylist()], pa.string())
