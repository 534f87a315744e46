"""CSV cells: the text of values and names, quoted so that they are read back unchanged."""

import re

import pyarrow as pa
import pyarrow.compute as pc

from shoal.table.column import SUPPRESSED, Column, as_text
from shoal.table.formats.header import looks_like_data
from shoal.table.inference import infer
from shoal.table.kind import Kind
from shoal.table.options import Written
from shoal.table.raw import Entries

_FORMULA = r"^[=+\-@\t\r]"


def pieces(column: Column, special: str, how: Written) -> pa.Array:
    """Return the CSV text of each code of a column; missing is empty."""
    text = as_text(column.values)
    if column.is_text:
        text = harmless(text, how)
    looks_different = column.is_text and _would_be_inferred(text)
    star = pa.array([SUPPRESSED] * column.suppressed, pa.string())
    shown = pa.concat_arrays([text, star])
    shown = _always_quoted(shown) if looks_different else _quoted(shown, special)
    missing = pa.array([""] * column.missing, pa.string())
    return pa.concat_arrays([shown[: len(text)], missing, shown[len(text) :]])


def header(names: pa.Array, special: str) -> list[str]:
    """Return the column names as written in the header; names that could be mistaken for data are quoted."""
    odd = pc.match_substring_regex(names, rf"^(?:{looks_like_data.pattern}|(?i:sep=).|\x{{feff}}.*)$")
    return list(pc.if_else(odd, _always_quoted(names), _quoted(names, special)).to_pylist())


def harmless(text: pa.Array, how: Written) -> pa.Array:
    """Put an apostrophe before text that a spreadsheet would execute, if ``excel_safe`` is set."""
    if not how.excel_safe:
        return text
    return pc.if_else(pc.match_substring_regex(text, _FORMULA), pc.binary_join_element_wise("'", text, ""), text)


def _would_be_inferred(values: pa.Array) -> bool:
    """Return whether a text column would be inferred as another kind unless it is quoted."""
    entries = Entries.read(Kind.TEXT, values.cast(pa.large_string()))
    return any(infer(entries, decimal=decimal).kind is not Kind.TEXT for decimal in (".", ","))


def _quoted(text: pa.Array, special: str) -> pa.Array:
    """Quote text with separators, quotes or line ends, and empty text, which differs from missing."""
    needed = pc.match_substring_regex(text, rf'^$|["\r\n{re.escape(special)}]')
    return pc.if_else(needed, _always_quoted(text), text)


def _always_quoted(text: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
