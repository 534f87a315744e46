"""Files of statistics packages, read and written by pyreadstat with variable labels and value labels."""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import ReadError, WriteError
from shoal.progress import Hook, Progress
from shoal.table.about import About
from shoal.table.column import Column, as_text
from shoal.table.encoding import encode
from shoal.table.formats.format import Format, Reading, check_options, damaged
from shoal.table.kind import Kind
from shoal.table.names import check_names
from shoal.table.options import Options, Written
from shoal.table.reading_note import Concern, ReadingNote
from shoal.table.table import Table

TRUTH = {0: "false", 1: "true"}  # value labels of Boolean columns, for which these files have no type
_EXACT = 1 << 53  # integers up to this size are exact as doubles
_ROWS = 100_000  # records read at a time
_HEAD = 560  # bytes at the beginning of a file that may contain the time of writing
_DECLARED_MISSING = "Values that the file declares as missing were read as missing in {columns}."
_INSTALL = 'Run pip install "shoal[statistics]".'


class Labelled(Format):
    """A format of a statistics package: all numbers are floating-point numbers, and text cannot be missing.

    Empty text is therefore read as missing. A column that contains empty text is rejected when it is written.
    """

    infers = frozenset({Kind.NUMBER})  # numbers are integers if all of them are whole
    what: ClassVar[str]  # "SPSS file"
    moment: ClassVar[tuple[bytes, bytes]]  # pattern of the time of writing, and its replacement
    longest: ClassVar[int]  # maximum bytes of a text
    name_length: ClassVar[int]
    keeps_blanks: ClassVar[bool] = False  # whether trailing blanks of a text are kept
    keeps_labels: ClassVar[bool] = True
    label_length: ClassVar[int | None] = None  # maximum characters of a variable label; longer ones are truncated
    letters: ClassVar[str] = "letters"  # allowed in names, for messages
    name_form: ClassVar[str] = r"[^\W\d]\w*"
    largest: ClassVar[float] = 1.7e308  # the largest doubles mean missing
    smallest: ClassVar[float] = 0.0
    refused: ClassVar[frozenset[Kind]] = frozenset({Kind.TIME})

    @abstractmethod
    def reader(self, package: ModuleType, path: Path) -> Callable[..., Any]:
        """Return the function that reads the file."""

    def marks_missing(self, path: Path) -> bool:
        """Return whether the file can declare values as missing."""
        del path
        return False

    @abstractmethod
    def writer(self, package: ModuleType, path: Path) -> Callable[..., Any]:
        """Return the function that writes the file."""

    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read the records in chunks, and encode the columns."""
        check_options(options, self.name, ("encoding",))
        read = self.reader(_package(), path)
        how = {"output_format": "dict", **({"encoding": options.encoding} if options.encoding else {})}
        with damaged(path, self.what):
            marked = {"user_missing": True} if self.marks_missing(path) else {}
            _, meta = read(str(path), metadataonly=True, **how, **marked)
            names = [str(name) for name in meta.column_names]
            check_names(names)
            parts: dict[str, list[pa.Array]] = {name: [] for name in names}
            for cells in _pieces(lambda **part: read(str(path), **how, **part)[0], meta.number_rows, progress):
                for name in names:
                    parts[name].append(_array(cells[name]))
        labels = {name: dict(meta.variable_value_labels.get(name, {})) for name in names}
        columns = [encode(name, _column(parts[name], labels[name]), options) for name in names]
        rows = len(columns[0].codes) if columns else 0
        table = Reading(columns, rows, notes=tuple(_marked(meta))).table(self.name)
        about = {name: _about(meta.column_names_to_labels.get(name), labels[name]) for name in names}
        return table.described({name: about for name, about in about.items() if about != About()})

    def write(self, table: Table, path: Path, how: Written, progress: Hook) -> None:
        """Write all records at once, with the labels of the values present."""
        del how
        progress(Progress("writing", 0, table.records))
        labels_of = {
            column.name: _labels(column, table.source.about.get(column.name, About())) for column in table.columns
        }
        named = {name: about.label[: self.label_length] for name, about in labels_of.items() if about.label}
        more: dict[str, Any] = {"column_labels": named}
        if self.keeps_labels:
            labels = {name: self._labelled(about.values) for name, about in labels_of.items()}
            more["variable_value_labels"] = {name: values for name, values in labels.items() if values}
        self.writer(_package(), path)(_frame(table), str(path), **more)
        with path.open("r+b") as file:  # identical tables give identical bytes
            undated = re.sub(self.moment[0], self.moment[1], file.read(_HEAD), flags=re.DOTALL)
            file.seek(0)
            file.write(undated)

    def count(self, path: Path) -> int:
        """Return the number of records by reading one column, because the library does not notice a full disk."""
        read = self.reader(_package(), path)
        _, meta = read(str(path), metadataonly=True, output_format="dict")
        cells, _ = read(str(path), usecols=[meta.column_names[-1]], output_format="dict")
        return len(cells[meta.column_names[-1]])

    def can_label(self, value: Any) -> bool:
        """Return whether the format can store a label for a value."""
        del value
        return True

    def _labelled(self, values: Mapping[Any, str]) -> dict[Any, str]:
        return {value: label for value, label in values.items() if self.can_label(value)}

    def refusal(self, column: Column) -> str | None:
        """Return the information of a column that would be lost, or None."""
        if not re.fullmatch(self.name_form, column.name) or len(column.name.encode()) > self.name_length:
            return f"its name must be {self.letters}, digits and _, and not be longer than {self.name_length} bytes"
        if column.kind in self.refused:
            return f"it holds values of the kind {column.kind}"
        if column.is_text or column.suppressed:
            return self._text_refusal(column)
        if column.kind is Kind.INTEGER:
            ends = pc.min_max(column.values)
            far = max((abs(ends[side].as_py() or 0) for side in ("min", "max")), default=0)
            return f"it holds whole numbers greater than {_EXACT:,}" if far > _EXACT else None
        if column.kind is Kind.DATETIME:
            return _moment_refusal(column)
        return self._number_refusal(column) if column.kind is Kind.NUMBER else None

    def _text_refusal(self, column: Column) -> str | None:
        texts = as_text(column.values)
        if pc.any(pc.equal(texts, "")).as_py():
            return "it holds empty text, which would be missing"
        if not self.keeps_blanks and pc.any(pc.ends_with(texts, " ")).as_py():
            return "it holds text that ends with blanks, which would be lost"
        if pc.any(pc.match_substring(texts, "\0")).as_py():
            return "it holds text with a null byte"
        longest = pc.max(pc.binary_length(texts)).as_py() or 0
        return f"it holds text of more than {self.longest:,} bytes" if longest > self.longest else None

    def _number_refusal(self, column: Column) -> str | None:
        if not pa.types.is_float64(column.values.type) and not pa.types.is_float32(column.values.type):
            return "it holds decimal numbers, which would be rounded"
        size = np.abs(column.values.to_numpy(zero_copy_only=False).astype(np.float64))
        beyond = ~np.isfinite(size) | (size > self.largest) | ((size < self.smallest) & (size > 0))
        return "it holds numbers that are too large, or too small" if beyond.any() else None


def _moment_refusal(column: Column) -> str | None:
    if column.values.type.tz is not None:
        return "it holds points in time with a time zone"
    whole = pc.all(pc.equal(pc.floor_temporal(column.values, unit="second"), column.values)).as_py()
    return "it holds fractions of seconds" if whole is False else None


def _marked(meta: Any) -> Iterator[ReadingNote]:
    """Yield a note on the columns with values declared as missing."""
    names = [name for name, declared in {**meta.missing_ranges, **meta.missing_user_values}.items() if declared]
    if names:
        yield ReadingNote(_DECLARED_MISSING, Concern.VALUES, tuple(names))


def _package() -> ModuleType:
    try:
        import pyreadstat
    except ImportError:
        raise ReadError(
            "not-installed", "Files of SAS, SPSS and Stata require pyreadstat, which is not installed.", remedy=_INSTALL
        ) from None
    return pyreadstat


def _pieces(read: Callable[..., Any], rows: int | None, progress: Hook) -> Iterator[Mapping[str, Any]]:
    """Yield the cells in chunks of records, or all at once if the file does not state the number of records."""
    if rows is None:
        yield read()
        return
    for begin in range(0, max(rows, 1), _ROWS):
        progress(Progress("reading", begin, rows))
        yield read(row_offset=begin, row_limit=_ROWS) if rows else read()


def _array(cells: Any) -> pa.Array:
    """Convert cells to an array; NaN and empty text become missing."""
    array = pa.array(cells, from_pandas=True)
    if pa.types.is_string(array.type):
        return pc.if_else(pc.equal(array, ""), pa.scalar(None, pa.string()), array)
    return array


def _column(parts: list[pa.Array], labels: Mapping[Any, str]) -> pa.ChunkedArray:
    """Join the chunks of a column.

    Numbers become integers if all are whole. Integers with the labels 0 = false and 1 = true become Booleans.
    """
    types = {part.type for part in parts if not pa.types.is_null(part.type)}
    kind = types.pop() if len(types) == 1 else pa.float64() if types else pa.string()
    column = pa.chunked_array([part.cast(kind) for part in parts], kind)
    if pa.types.is_floating(kind):
        values = column.drop_null()
        whole = pc.all(
            pc.and_(pc.equal(pc.floor(values), values), pc.less_equal(pc.abs(values), float(_EXACT)))
        ).as_py()
        column = column.cast(pa.int64()) if whole is not False and len(values) else column
    if pa.types.is_integer(column.type) and _plain(labels) == TRUTH:
        return column.cast(pa.bool_())
    return column


def _about(label: str | None, values: Mapping[Any, str]) -> About:
    plain = _plain(values)
    return About(label or "", {} if plain == TRUTH else plain)


def _plain(values: Mapping[Any, str]) -> dict[Any, str]:
    """Return value labels with integer keys where possible; Stata also labels kinds of missing values, by letters."""
    whole = {value: int(value) for value in values if isinstance(value, float) and value.is_integer()}
    return {whole.get(value, value): text for value, text in values.items()}


def _labels(column: Column, about: About) -> About:
    """Return the labels to be written for a column; generalised values are their own labels."""
    if column.kind is Kind.BOOLEAN and not column.suppressed:
        return About(about.label, TRUTH)
    return about.of(column.values.to_pylist() if about.values and not column.suppressed else [])


def _frame(table: Table) -> Any:
    """Return the table as a Polars frame for pyreadstat: dictionaries decoded, Booleans as numbers."""
    arrow = table.to_arrow()
    for place, field in enumerate(arrow.schema):
        cells = arrow.column(place)
        if pa.types.is_dictionary(field.type):
            cells = cells.cast(field.type.value_type)
        if pa.types.is_boolean(cells.type):
            cells = cells.cast(pa.int8())
        arrow = arrow.set_column(place, field.name, cells)
    try:
        import polars as pl
    except ImportError:
        raise WriteError(
            "not-installed",
            "Writing files of SAS, SPSS and Stata requires polars, which is not installed.",
            remedy=_INSTALL,
        ) from None
    return pl.from_arrow(arrow)
