"""Explicit hierarchies, defined value by value in a file or in the policy."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.errors import HierarchyError, ReadError
from shoal.hierarchy.hierarchy import Hierarchy, Labels, assemble
from shoal.hierarchy.labels import check_intervals, read_number
from shoal.hierarchy.spec import KINDS, Spec, refuse_unknown
from shoal.table.column import SUPPRESSED, Column, as_text
from shoal.table.formats.dialect import decode, detect_encodings, detect_separator, split


@KINDS.register("explicit")
class Explicit(Spec):
    """An explicit list of labels for each value.

    ``file``: a text file with a row for each value and a column for each level, as ARX writes them. ``separator``: the
    field separator, detected if not given. ``values``: instead of a file, the labels of each value on levels 1, 2, ….
    ``unknown``: the treatment of values that are not in the hierarchy: "refuse" or "suppress". ``check_labels``:
    whether labels that look like intervals must contain their values and must not overlap.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> table = shoal.read({"job": ["nurse", "smith"]})
    >>> spec = Explicit(values={"nurse": ["health"], "smith": ["craft"]})
    >>> bind(spec, table, "job").labels(1).to_pylist()
    ['health', 'craft']
    """

    kind: Literal["explicit"] = "explicit"
    file: str | None = Field(default=None, description="text file with a row per value and a column per level")
    separator: str | None = Field(
        default=None, title="Field separator", description="field separator of the file (default: detected)"
    )
    values: dict[str, list[str]] = Field(default_factory=dict, description="labels of each value on levels 1, 2, …")
    unknown: Literal["refuse", "suppress"] = Field(
        default="refuse", title="Unknown values", description="treatment of values that the hierarchy does not contain"
    )
    check_labels: bool = Field(
        default=True, description="whether labels in the form of intervals must contain their values and not overlap"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.file is None) == (not self.values):
            raise ValueError("requires either file or values")
        if len({len(labels) for labels in self.values.values()}) > 1:
            raise ValueError("every value must have the same number of labels")
        return self

    def build(self, column: Column, counts: NDArray[np.int64], folder: Path) -> Hierarchy:
        """Bind to a column; leaves that do not occur in the data are kept, because loss measures count them."""
        rows = self._rows(folder)
        leaves = [row[0] for row in rows]
        rungs: list[Labels] = [list(rung) for rung in zip(*rows, strict=True)]
        if self.check_labels and column.kind.numeric:
            for level, rung in enumerate(rungs[1:], 1):
                check_intervals(column.name, level, leaves, rung)
        codes, added = _placed(column, leaves)
        unknown = codes < 0
        if self.unknown == "refuse":
            refuse_unknown(column, counts, unknown, "are not in its hierarchy", "Add them to it")
        if unknown.any() and SUPPRESSED not in added:
            added.append(SUPPRESSED)
        if unknown.any():
            codes[unknown] = len(leaves) + added.index(SUPPRESSED)
        return assemble(column, codes, [[*rung, *_beside(rung, added)] for rung in rungs])

    def spread(self, labels: Sequence[str], folder: Path) -> NDArray[np.float64] | None:
        """Return the share of the other values that each label covers; None if a label is unknown.

        A label on several levels counts on the lowest one.

        >>> Explicit(values={"a": ["x"], "b": ["x"], "c": ["y"]}).spread(["x", "c"], Path()).tolist()
        [0.5, 0.0]
        """
        rows = self._rows(folder)
        covered: dict[str, int] = {}
        for rung in zip(*rows, strict=True):
            for label, number in Counter(rung).items():
                covered.setdefault(label, number)
        if any(label not in covered for label in labels):
            return None
        return np.array([(covered[label] - 1) / max(len(rows) - 1, 1) for label in labels])

    def _rows(self, folder: Path) -> list[Sequence[str]]:
        if self.file is None:
            return [(value, *labels) for value, labels in self.values.items()]
        return read_file(folder / self.file, self.separator)


def _beside(rung: Labels, added: Sequence[str | None]) -> Sequence[str | None]:
    """Return the labels of leaves that are not in the file: unchanged, until a level on which all is suppressed."""
    return [SUPPRESSED] * len(added) if set(rung) == {SUPPRESSED} else added


def read_file(path: Path, separator: str | None) -> list[Sequence[str]]:
    """Read a hierarchy file with a row for each value and a column for each level."""
    if not path.is_file():
        raise ReadError("no-hierarchy-file", "There is no hierarchy file '{path}'.", path=path)
    data = path.read_bytes()
    text = decode(data, detect_encodings(data)[0], whole=True)
    separator = separator or detect_separator(text, whole=True)
    rows = split(text, separator, whole=True, most=len(data))
    _check_rows(path, rows)
    return list(dict.fromkeys(rows))


def _check_rows(path: Path, rows: list[tuple[str, ...]]) -> None:
    if not rows:
        raise HierarchyError("hierarchy-file-empty", "The hierarchy file '{file}' is empty.", file=path.name)
    for line, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise HierarchyError(
                "hierarchy-file-ragged",
                "Line {line} of the hierarchy file '{file}' has {levels:level}, the first line has {first}.",
                remedy="Every line must have a label for every level. Check the separator.",
                line=line,
                file=path.name,
                levels=len(row),
                first=len(rows[0]),
            )
    first: dict[str, int] = {}
    for line, row in enumerate(rows, 1):
        earlier = first.setdefault(row[0], line)
        if rows[earlier - 1] != row:
            raise HierarchyError(
                "hierarchy-file-contradicts",
                "Lines {earlier} and {line} of the hierarchy file '{file}' describe the same value differently.",
                earlier=earlier,
                line=line,
                file=path.name,
            )


def _placed(column: Column, leaves: list[str]) -> tuple[NDArray[np.int64], list[str | None]]:
    """Return the leaf of each code (−1 if unknown), and the leaves to add for missing and suppressed cells."""
    places = {leaf: place for place, leaf in enumerate(leaves)}
    numbers = _numbers(leaves) if column.kind.numeric else {}
    codes = [
        places[text] if text in places else numbers.get(read_number(text), -1)
        for text in as_text(column.values).to_pylist()
    ]
    added: list[str | None] = []
    if column.missing:
        codes.append(len(leaves))
        added.append(None)
    if column.suppressed:
        codes.append(len(leaves) + len(added))
        added.append(SUPPRESSED)
    return np.array(codes, np.int64), added


def _numbers(leaves: Sequence[str]) -> Mapping[Decimal | None, int]:
    """Return the positions of leaves by their numeric value, so that 39 and 39.0 are equal."""
    numbers: dict[Decimal | None, int] = {}
    for place, leaf in enumerate(leaves):
        number = read_number(leaf)
        if number is not None:
            numbers.setdefault(number, place)
    return numbers
