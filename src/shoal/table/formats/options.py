"""How files are to be read and written, where it is not found out or not a matter of course."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from shoal.validation import Checked


class Options(Checked):
    """How a file is to be read. What is not given is found out from the file."""

    separator: str | None = Field(default=None, min_length=1, max_length=1, description="what stands between fields")
    decimal: Literal[".", ","] | None = Field(default=None, description="what stands before decimals")
    encoding: str | None = Field(default=None, description="the encoding of a text file, such as cp1252")
    header: bool | None = Field(
        default=None,
        description="whether the first row holds the names; if not said, it does, but may not look like data",
    )
    unnamed: Literal["refuse", "drop", "number"] = Field(
        default="refuse", description="what to do with nameless columns"
    )
    markers: tuple[str, ...] = Field(default=(), description="texts that mean missing in every column, such as NA")
    suppressed: str | None = Field(default=None, description="the text that means blanked on purpose, such as *")
    text: tuple[str, ...] = Field(default=(), description="columns to keep as text, whatever they look like")
    sheet: str | None = Field(default=None, description="the sheet of a workbook")


@dataclass(frozen=True, slots=True)
class Written:
    """How a file is to be written. ``excel_safe``: make cells that a spreadsheet would run as formulas harmless."""

    separator: str | None = None
    excel_safe: bool = False
