"""Options for reading and writing files."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field, field_validator

from shoal.validation import Checked


class Options(Checked):
    """Options for reading a file. Options that are not given are detected from the file."""

    format: str | None = Field(
        default=None, title="File format", description="file format, if the suffix does not identify it"
    )
    separator: str | None = Field(default=None, title="Field separator", description="field separator")
    decimal: Literal[".", ","] | None = Field(default=None, title="Decimal separator", description="decimal separator")
    encoding: str | None = Field(default=None, title="Text encoding", description="such as cp1252")
    header: bool | None = Field(
        default=None,
        title="Header row",
        description="whether the first row is a header (default: yes, unless it looks like data)",
    )
    skip: int = Field(
        default=0, ge=0, le=1_000_000, title="Lines to skip", description="number of lines to skip above the header"
    )
    unnamed: Literal["refuse", "drop", "number"] = Field(
        default="refuse",
        title="Columns without a name",
        description="refuse: reject the file; drop: omit the column; number: name it column_1, column_2, …",
    )
    markers: tuple[str, ...] = Field(
        default=(), title="Missing-value markers", description="texts that mean missing in every column, such as NA"
    )
    suppressed: str | None = Field(
        default=None,
        title="Marker of suppressed cells",
        description="text that marks suppressed cells in the file, such as *",
    )
    text: tuple[str, ...] = Field(default=(), title="Columns to read as text", description="columns to read as text")
    columns: tuple[str, ...] = Field(default=(), title="Columns to read", description="columns to read (default: all)")
    engine: Literal["memory", "disk", "duckdb", "spark"] = Field(
        default="memory",
        description="where rows are: in memory, in files of their codes on disk (tables larger than memory), in a "
        "Parquet or DuckDB file that DuckDB counts, or with Spark",
    )
    table: str | None = Field(default=None, description="name of the table in a database")
    sheet: str | None = Field(default=None, description="name of the sheet in a workbook")

    @field_validator("separator")
    @classmethod
    def _can_separate(cls, separator: str | None) -> str | None:
        if separator is not None:
            check_separator(separator)
        return separator


def check_separator(separator: str) -> None:
    """Reject text that cannot separate fields."""
    if len(separator) != 1 or not separator.isascii() or separator.isalnum() or separator in "\"'\r\n.-+_":
        raise ValueError("the separator must be one character such as , ; | or a tab")


@dataclass(frozen=True, slots=True)
class Written:
    """Options for writing a file. ``excel_safe``: neutralise cells that a spreadsheet would execute as formulas."""

    separator: str | None = None
    excel_safe: bool = False
