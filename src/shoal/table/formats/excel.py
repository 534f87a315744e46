"""Excel workbooks: one sheet is one table."""

import logging
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import ReadError, did_you_mean
from shoal.progress import Hook, Progress
from shoal.table.column import Column
from shoal.table.encoding import encode
from shoal.table.formats.dialect import Quoted
from shoal.table.formats.format import FORMATS, Format, Reading, check_options, damaged
from shoal.table.formats.header import Header
from shoal.table.kind import Kind, kind_of
from shoal.table.options import Options, Written
from shoal.table.reading_note import READ_AS_MISSING, Concern, ReadingNote
from shoal.table.table import Table
from shoal.words import counted

MAX_ROWS, MAX_COLUMNS, MAX_TEXT = 1_048_576, 16_384, 32_767
_FIRST_DAY = datetime(1900, 3, 1)  # noqa: DTZ001 - Excel has no time zones, and its calendar is wrong before this day
_CONTROL = r"[\x00-\x08\x0b\x0c\x0d\x0e-\x1f\x{fffe}\x{ffff}]|_x[0-9A-Fa-f]{4}_"


class Excel(Format):
    """A sheet of a workbook."""

    name = "excel"
    infers = frozenset({Kind.NUMBER, Kind.TEXT})
    suffixes = (".xlsx", ".xls", ".xlsb", ".ods")
    writes = (".xlsx",)

    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read the first sheet, or the named one. Whole numbers become integers, and midnights become dates."""
        check_options(options, self.name, ("sheet", "header", "skip", "unnamed"))
        logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns about empty columns
        progress(Progress("reading", 0))
        book = _open(path)
        sheet = _sheet(book.sheet_names, options.sheet)
        above, first = _first_row(book, sheet, options.skip)
        header = Header.of(first, options, typed=True)
        below = above + (options.header is not False)
        body = _load(book, sheet, skip_rows=below, schema_sample_rows=None)
        with damaged(path, "workbook"):
            body.validate(full=True)
            columns = [
                encode(name, pa.chunked_array([_plain(body.column(place))]), options)
                for name, place in zip(header.names, header.places, strict=True)
            ]
        others = len(book.sheet_names) - 1
        notes = _on_markers(header, body, lambda: _load(book, sheet, skip_rows=below, dtypes="string"))
        if others:
            read = f"The workbook has {counted(others, 'more sheet')}; '{sheet}' was read."
            notes = (*notes, ReadingNote(read, Concern.COLUMNS))
        return Reading(columns, body.num_rows, {"sheet": sheet}, (*header.notes, *notes)).table(self.name)

    def write(self, table: Table, path: Path, how: Written, progress: Hook) -> None:
        """Write one sheet row by row and in constant memory, in the order of the file format."""
        del how
        import xlsxwriter

        with xlsxwriter.Workbook(str(path), {"constant_memory": True, "strings_to_urls": False}) as book:
            book.set_properties({"created": _FIRST_DAY})  # identical tables give identical bytes
            sheet = book.add_worksheet("data")
            for place, name in enumerate(table.names):
                sheet.write_string(0, place, name)
            writers = [_writer(book, sheet, column) for column in table.columns]
            row = 0
            for batch in table.batches():
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    row += 1
                    for place, (write, cell) in enumerate(zip(writers, cells, strict=True)):
                        if cell is not None:
                            write(row, place, cell)
                progress(Progress("writing", row, table.records))

    def table_refusal(self, table: Table) -> str | None:
        """Return the reason why a table does not fit onto a sheet, or None."""
        if table.records and all(table.codes(column.name)[-1] == column.missing_code for column in table.columns):
            return "its last record is empty, and a sheet ends with its last cell"
        if table.records >= MAX_ROWS:
            return f"a sheet holds {MAX_ROWS - 1:,} records, the table has {table.records:,}"
        if len(table.columns) > MAX_COLUMNS:
            return f"a sheet holds {MAX_COLUMNS:,} columns"
        return None

    def refusal(self, column: Column) -> str | None:
        """Return the reason why cells cannot hold the values of a column, or None."""
        for reason in _REFUSALS.get(kind_of(column.values.type, column.name), ()):
            if len(column.values) and reason[0](column.values):
                return reason[1]
        return None


FORMATS.register("excel")(Excel())


def _open(path: Path) -> Any:
    import fastexcel

    with damaged(path, "readable workbook (it may be protected by a password)"):
        return fastexcel.read_excel(path)


def _sheet(names: list[str], wanted: str | None) -> str:
    if not names:
        raise ReadError("no-sheet", "The workbook has no readable sheet.")
    if wanted is None:
        return names[0]
    if wanted not in names:
        raise ReadError(
            "unknown-sheet",
            "The workbook has no sheet '{sheet}'.",
            remedy=did_you_mean(wanted, names) or "It has {sheets:listed}.",
            sheet=wanted,
            sheets=names,
        )
    return wanted


def _load(book: Any, sheet: str, **options: Any) -> pa.RecordBatch:
    import fastexcel

    broken = False
    try:
        return book.load_sheet(sheet, header_row=None, **options).to_arrow()
    except fastexcel.CalamineCellError:
        broken = True
    except fastexcel.FastExcelError:
        pass
    if broken:
        raise ReadError(
            "cell-errors",
            "The sheet '{sheet}' has cells with errors, such as #NAME?.",
            remedy="Correct or empty these cells in the workbook.",
            sheet=sheet,
        )
    raise ReadError("no-table", "The sheet '{sheet}' is empty, or contains no table.", sheet=sheet)


def _on_markers(header: Header, body: pa.RecordBatch, as_text: Callable[[], pa.RecordBatch]) -> tuple[ReadingNote, ...]:
    """Return notes on columns of numbers or dates in which text such as NA was read as missing."""
    gaps = [
        (name, place)
        for name, place in zip(header.names, header.places, strict=True)
        if body.column(place).null_count and kind_of(body.column(place).type, name) is not Kind.TEXT
    ]
    if not gaps:
        return ()
    text = as_text()
    return tuple(
        ReadingNote(READ_AS_MISSING, Concern.VALUES, (name,))
        for name, place in gaps
        if text.column(place).null_count < body.column(place).null_count
    )


def _name(cell: Any) -> str:
    """Return the column name in a cell. A text cell is a name even if it looks like a number."""
    return Quoted(cell) if isinstance(cell, str) else "" if cell is None else str(cell)


def _first_row(book: Any, sheet: str, skip: int) -> tuple[int, list[str]]:
    """Return the number of rows above the first row that is not empty, and the cells of that row."""
    for above in range(skip, skip + 100):
        row = _load(book, sheet, skip_rows=above, n_rows=1)
        if row.num_rows and any(column.null_count == 0 for column in row.columns):
            return above, [_name(column[0].as_py()) for column in row.columns]
    raise ReadError("no-table", "The sheet '{sheet}' is empty.", sheet=sheet)


def _plain(cells: pa.Array) -> pa.Array:
    """Restore integers, dates and times of day, for which Excel has no types of their own."""
    if pa.types.is_floating(cells.type):
        whole = pc.all(pc.equal(pc.floor(cells), cells)).as_py()
        small = pc.all(pc.less_equal(pc.abs(cells), 2**53)).as_py()
        return cells.cast(pa.int64()) if whole and small else cells
    if pa.types.is_timestamp(cells.type) and pc.all(pc.less(pc.year(cells), 1900)).as_py():
        return cells.cast(pa.timestamp("us")).cast(
            pa.time64("us")
        )  # a time of day is stored on the day before Excel's first day
    if pa.types.is_timestamp(cells.type):
        midnight = pc.all(pc.equal(pc.floor_temporal(cells, unit="day"), cells)).as_py()
        return cells.cast(pa.date32()) if midnight else cells
    return cells


def _writer(book: Any, sheet: Any, column: Column) -> Any:
    """Return the function that writes the cells of a column. It never guesses types, or text could become a formula."""
    if column.suppressed:
        return sheet.write_string
    kind = kind_of(column.values.type, column.name)  # categories are written in the type of their values
    if kind is Kind.DATE:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        return lambda row, place, cell: sheet.write_datetime(row, place, cell, day)
    if kind is Kind.DATETIME:
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"})
        return lambda row, place, cell: sheet.write_datetime(row, place, cell, moment)
    return {
        Kind.BOOLEAN: sheet.write_boolean,
        Kind.INTEGER: sheet.write_number,
        Kind.NUMBER: sheet.write_number,
    }.get(kind, sheet.write_string)


def _any(condition: Any) -> bool:
    return bool(pc.any(condition).as_py())


def _too_exact(values: pa.Array) -> bool:
    return any(float(f"{number:.16G}") != number for number in values.cast(pa.float64()).to_pylist())


def _too_fine(values: pa.Array) -> bool:
    return _any(pc.not_equal(pc.floor_temporal(values, unit="millisecond"), values))


def _too_late(values: pa.Array) -> bool:
    plain = values.cast(pa.timestamp(values.type.unit)) if pa.types.is_timestamp(values.type) else values
    return _any(pc.greater(pc.year(plain), 9999))


def _too_early(values: pa.Array) -> bool:
    return _any(pc.less(values, pa.scalar(_FIRST_DAY).cast(values.type)))


_REFUSALS: dict[Kind, tuple[tuple[Any, str], ...]] = {
    Kind.TEXT: (
        (lambda v: _any(pc.greater(pc.utf8_length(v), MAX_TEXT)), f"a cell holds {MAX_TEXT:,} characters"),
        (lambda v: _any(pc.match_substring_regex(v, _CONTROL)), "it holds control characters, or text like _x0041_"),
    ),
    Kind.INTEGER: (
        (lambda v: v[-1].as_py() > 2**53 or v[0].as_py() < -(2**53), "Excel keeps integers up to 2^53 only"),
    ),
    Kind.NUMBER: (
        (lambda v: pa.types.is_decimal(v.type), "Excel has no decimals; convert it to numbers or text"),
        (lambda v: _any(pc.is_inf(v)), "it holds infinite numbers"),
        (_too_exact, "it holds numbers of more than 16 digits, which workbooks round"),
    ),
    Kind.DATE: (
        (_too_late, "Excel's calendar ends in 9999"),
        (_too_early, "Excel's calendar begins in 1900"),
    ),
    Kind.DATETIME: (
        (lambda v: v.type.tz is not None, "Excel knows no time zones; convert it to local time without zone"),
        (_too_late, "Excel's calendar ends in 9999"),
        (_too_early, "Excel's calendar begins in 1900"),
        (_too_fine, "Excel keeps milliseconds"),
        (
            lambda v: not _any(pc.not_equal(pc.floor_temporal(v, unit="day"), v)),
            "all its times are midnight, so they would come back as dates; convert it to dates",
        ),
    ),
    Kind.TIME: ((lambda _: True, "Excel has no time of day; convert it to text"),),
}
