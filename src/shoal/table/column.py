"""A column: its name, the kind of its values, and the dictionary of its codes."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from shoal.table.kind import Kind, kind_of

SUPPRESSED = "*"
_FORMULA = r"^(?:[=@\t\r]|[+-].*[(!|])"  # −1 and "- none" are not formulas


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A dictionary-encoded column.

    Codes 0 … n − 1 denote ``values`` in ascending order (categories: in declared order), followed by the codes of
    *missing* and *suppressed*, if present. ``missing``: whether cells were empty at the source. ``suppressed``: whether
    cells were suppressed on purpose; their values exist, but are not shown.
    """

    name: str
    kind: Kind
    values: pa.Array
    missing: bool = False
    suppressed: bool = False

    @property
    def size(self) -> int:
        """Number of distinct codes."""
        return len(self.values) + self.missing + self.suppressed

    @property
    def missing_code(self) -> int | None:
        """Code of cells that were empty at the source, or None if there are none."""
        return len(self.values) if self.missing else None

    @property
    def suppressed_code(self) -> int | None:
        """Code of suppressed cells, or None if there are none."""
        return len(self.values) + self.missing if self.suppressed else None

    @property
    def is_text(self) -> bool:
        """Whether the values are text, ordered or not."""
        return kind_of(self.values.type, self.name) is Kind.TEXT

    @property
    def has_formulas(self) -> bool:
        """Whether a spreadsheet that opens the table as CSV would execute any of the text as a formula."""
        return self.is_text and bool(pc.any(pc.match_substring_regex(as_text(self.values), _FORMULA)).as_py())

    def labels(self) -> pa.StringArray:
        """Return the text of each code: the value as text, null for missing, ``*`` for suppressed."""
        tail = [None] * self.missing + [SUPPRESSED] * self.suppressed
        return pa.concat_arrays([as_text(self.values), pa.array(tail, pa.string())])

    def cells(self) -> pa.Array:
        """Return the cell content of each code: the value, or its text if the column has suppressed cells (``*``)."""
        if self.suppressed:
            return self.labels()
        cells = pa.concat_arrays([self.values, pa.nulls(1, self.values.type)]) if self.missing else self.values
        return _declared(cells) if self.kind is Kind.CATEGORY else cells


def as_text(values: pa.Array) -> pa.StringArray:
    """Format values as in shoal's text files: ISO dates, shortest numbers, ``true``/``false``.

    >>> import pyarrow as pa
    >>> as_text(pa.array([1.0, 2.5])).to_pylist()
    ['1.0', '2.5']
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_timestamp(values.type):
        return _datetime_text(values)
    if pa.types.is_floating(values.type):
        values = values.cast(pa.float64())  # write all digits: 0.1 in single precision is another number
    text = values.cast(pa.string())
    if pa.types.is_floating(values.type):
        # 1.0 must not be read back as the integer 1, nor 1.0e20 as the code 1e20.
        text = pc.replace_substring_regex(text, r"^(-?\d+)(e|$)", r"\1.0\2")
    if pa.types.is_time(values.type):
        text = pc.replace_substring_regex(text, r"\.?0+$", "") if _has_fraction(values.type) else text
    return text


def _declared(values: pa.Array) -> pa.DictionaryArray:
    """Return ordered categories as a dictionary array that declares their order."""
    places = pa.array(range(len(values)), pa.int32(), mask=values.is_null().to_numpy(zero_copy_only=False))
    return pa.DictionaryArray.from_arrays(places, values.drop_null(), ordered=True)


def _has_fraction(arrow: pa.DataType) -> bool:
    return str(arrow.unit) != "s"


def _datetime_text(values: pa.TimestampArray) -> pa.StringArray:
    """Format dates and times in ISO 8601, without trailing zeros in the fraction of a second."""
    text = pc.replace_substring(values.cast(pa.string()), " ", "T", max_replacements=1)
    if _has_fraction(values.type):
        text = pc.replace_substring_regex(text, r"\.(\d*?)0+(Z?)$", r".\1\2")
        text = pc.replace_substring_regex(text, r"\.(Z?)$", r"\1")
    return text
