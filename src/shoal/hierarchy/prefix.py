"""Prefixes: codes and postcodes that say less the fewer characters are kept."""

import re
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.hierarchy.hierarchy import Hierarchy, Labels, ladder
from shoal.hierarchy.spec import KINDS, Spec
from shoal.table.column import Column, as_text

# How many characters the levels of well-known codes keep.
CODES: dict[str, tuple[int, ...]] = {
    "atc": (5, 4, 3, 1),  # A10BA02 → A10BA → A10B → A10 → A
    "icd": (5, 3, 1),
    "zip": (3, 1),  # USA
    "plz": (3, 2, 1),  # Germany
    "postcode4": (3, 2, 1),  # Belgium, the Netherlands, Austria, Switzerland
    "postcode-ca": (3, 1),
    "nuts": (4, 3, 2),
}
# British postcodes have parts of different lengths: area, district, sector, unit.
_BRITISH = re.compile(r"(([A-Z]{1,2})\d[A-Z\d]?) ?\d?[A-Z]{0,2}")


@KINDS.register("prefix")
class Prefix(Spec):
    """The first characters of a code.

    ``keep``: how many characters each level keeps, ever fewer; or ``code``: the name of a well-known code.
    ``mask``: what stands for the characters that are left out: once for each where all values are equally long,
    otherwise once; "" for nothing.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> table = shoal.read({"plz": ["01067", "01069", "10115"]})
    >>> bind(Prefix(keep=[3, 1]), table, "plz").labels(1).to_pylist()
    ['010**', '010**', '101**']
    """

    kind: Literal["prefix"] = "prefix"
    keep: list[int] = Field(default_factory=list)
    code: str | None = None
    mask: str = "*"
    summary = "codes and postcodes, cut to ever fewer characters"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.keep) == (self.code is not None):
            raise ValueError("give either keep or code")
        if self.code is not None and self.code not in {*CODES, "postcode-uk"}:
            raise ValueError(f"code must be one of {', '.join(sorted({*CODES, 'postcode-uk'}))}")
        if any(length < 1 for length in self.keep) or self.keep != sorted(set(self.keep), reverse=True):
            raise ValueError("keep must descend and be at least 1")
        return self

    def build(self, column: Column, counts: NDArray[np.int64], folder: Path) -> Hierarchy:
        """Bind to a column; numbers are taken as they are written."""
        del counts, folder
        values = as_text(column.values).to_pylist()
        if self.code == "postcode-uk":
            return ladder(column, _british(values))
        length = len(values[0]) if values and len({len(value) for value in values}) == 1 else None
        lengths = CODES[self.code] if self.code else self.keep
        return ladder(column, [[self._cut(value, keep, length) for value in values] for keep in lengths])

    def _cut(self, value: str, keep: int, length: int | None) -> str:
        """Cut a value; one that is shorter than what is kept stays whole, for it says no more."""
        if len(value) < keep:
            return value
        return value[:keep] + self.mask * (1 if length is None else max(length - keep, 0))


def _british(values: list[str]) -> list[Labels]:
    """Return district and area of British postcodes: SW1A 1AA → SW1A → SW."""
    matches = [_BRITISH.fullmatch(value.strip().upper()) for value in values]
    return [
        [match.group(group) if match else value for match, value in zip(matches, values, strict=True)]
        for group in (1, 2)
    ]
