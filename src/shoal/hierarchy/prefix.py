"""Prefixes: codes and postcodes that are generalised by truncation."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.hierarchy.hierarchy import Hierarchy, Labels, ladder
from shoal.hierarchy.spec import KINDS, Spec, refuse_unknown
from shoal.table.column import Column, as_text
from shoal.table.kind import Kind

# Well-known codes: the characters that each level keeps, the length of a code, and its pattern.
CODES: dict[str, tuple[tuple[int, ...], int | None, str]] = {
    "atc": ((5, 4, 3, 1), None, r"[A-Z](\d\d([A-Z]([A-Z](\d\d)?)?)?)?"),  # A10BA02 → A10BA → A10B → A10 → A
    "zip": ((3, 1), 5, r"\d{5}"),  # USA
    "plz": ((3, 2, 1), 5, r"\d{5}"),  # Germany
    "postcode4": ((3, 2, 1), 4, r"\d{4}"),  # Belgium, the Netherlands, Austria, Switzerland
    "postcode-ca": ((3, 1), None, r"[A-Z]\d[A-Z]( ?\d[A-Z]\d)?"),
    "nuts": ((4, 3, 2), None, r"[A-Z]{2}[A-Z0-9]{0,3}"),
}
# British postcodes have parts of different lengths: SW1A 1AA is sector SW1A 1, district SW1A, area SW.
_BRITISH = re.compile(r"(([A-Z]{1,2})\d[A-Z\d]?) ?\d[A-Z]{2}")
_NAMES = sorted({*CODES, "postcode-uk"})


@KINDS.register("prefix")
class Prefix(Spec):
    """The first characters of a code.

    ``keep``: the number of characters that each level keeps, in descending order. ``code``: instead, the name of a
    well-known code. ``mask``: replacement for the removed characters: once for each of them if ``length``, the length
    of a code, is given, otherwise once for all; "" for none. Integers are padded with zeros to that length.
    ``unknown``: the treatment of values of another length, or that are not valid codes: "refuse" or "suppress".

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> table = shoal.read({"plz": ["01067", "01069", "10115"]})
    >>> bind(Prefix(keep=[3, 1], length=5), table, "plz").labels(1).to_pylist()
    ['010**', '010**', '101**']
    """

    kind: Literal["prefix"] = "prefix"
    keep: list[int] = Field(
        default_factory=list, title="Characters kept", description="number of characters kept on each level, descending"
    )
    code: str | None = Field(
        default=None, title="Standard code", description=f"instead of characters kept: {', '.join(_NAMES)}"
    )
    length: int | None = Field(default=None, ge=1, title="Code length", description="length of a code")
    mask: str = Field(default="*", description="replacement for the removed characters")
    unknown: Literal["refuse", "suppress"] = Field(
        default="refuse",
        title="Unknown values",
        description="treatment of values of another length, or that are not valid codes",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.keep) == (self.code is not None):
            raise ValueError("requires either keep or code")
        if self.code is not None and self.code not in _NAMES:
            raise ValueError(f"code must be one of {', '.join(_NAMES)}")
        if self.code is not None and self.length is not None:
            raise ValueError("length is determined by code: omit it")
        if any(length < 1 for length in self.keep) or self.keep != sorted(set(self.keep), reverse=True):
            raise ValueError("keep must be descending numbers of at least 1")
        return self

    def build(self, column: Column, counts: NDArray[np.int64], folder: Path) -> Hierarchy:
        """Bind to a column; numbers are treated as text."""
        del folder
        keep, length, pattern = CODES.get(self.code or "", (tuple(self.keep), self.length, None))
        values = as_text(column.values).to_pylist()
        if column.kind is Kind.INTEGER and length:
            values = [value.zfill(length) for value in values]
        fits = _fitting(self.code, pattern, length)
        unknown = [not fits(value) for value in values]
        if self.unknown == "refuse":
            what = f"are not {self.code} codes" if self.code else f"are not {length} characters long"
            refuse_unknown(column, counts, unknown, what, "Correct them")
        if self.code == "postcode-uk":
            return ladder(column, _british(values), unknown)
        return ladder(column, [[self._cut(value, kept, length) for value in values] for kept in keep], unknown)

    def _cut(self, value: str, keep: int, length: int | None) -> str:
        """Truncate a value; a value shorter than the kept length stays unchanged, because it reveals no more."""
        if len(value) < keep:
            return value
        return value[:keep] + self.mask * (1 if length is None else max(length - keep, 0))


def _fitting(code: str | None, pattern: str | None, length: int | None) -> Callable[[str], object]:
    """Return the test for valid values."""
    if code == "postcode-uk":
        return lambda value: _BRITISH.fullmatch(value.strip().upper())
    if pattern is not None:
        return re.compile(pattern, re.IGNORECASE).fullmatch
    return lambda value: length is None or len(value) == length


def _british(values: list[str]) -> list[Labels]:
    """Return the districts and areas of British postcodes."""
    matches = [_BRITISH.fullmatch(value.strip().upper()) for value in values]
    return [[match.group(group) if match else "" for match in matches] for group in (1, 2)]
