"""Mapping from original to released values, which can be applied to new data."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import ReleaseError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.translation import narrowest
from shoal.release.columns import labelled
from shoal.table.compaction import compacted
from shoal.table.raw import Encoded
from shoal.table.reading import read
from shoal.table.table import Table


@dataclass(frozen=True, slots=True)
class ValueMap:
    """Mapping from original to released values.

    ``columns[name][value]``: the released value of an original value of a column, both as text; None is missing.
    ``kept``: the released columns, in order. Applying the mapping does not make new data safe: their risk must be
    assessed again.

    >>> import shoal
    >>> became = ValueMap({"age": {"31": "30-39", "34": "30-39"}}, ("age", "dx"))
    >>> became.apply({"age": [34, 31], "name": ["A", "B"], "dx": ["flu", "ms"]}).to_frame("pyarrow").to_pydict()
    {'age': ['30-39', '30-39'], 'dx': ['flu', 'ms']}
    """

    __module__ = "shoal"

    columns: Mapping[str, Mapping[str | None, str | None]]
    kept: tuple[str, ...]

    @classmethod
    def of(
        cls, table: Table, hierarchies: Mapping[str, Hierarchy], scheme: Mapping[str, int], kept: tuple[str, ...]
    ) -> "ValueMap":
        """Return the mapping of all values of a table under a generalisation scheme."""
        columns = {}
        for name, level in scheme.items():
            values, became = table[name].labels().to_pylist(), hierarchies[name].labels(level).to_pylist()
            columns[name] = dict(zip(values, became, strict=True))
        return cls(columns, kept)

    @classmethod
    def load(cls, path: str | Path) -> "ValueMap":
        """Read a mapping that was saved with a release."""
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
            columns = {str(name): dict(pairs) for name, pairs in document["columns"].items()}
            return cls(columns, tuple(map(str, document["kept"])))
        except OSError as error:
            raise ReleaseError(
                "unreadable", "'{path}' cannot be read: {reason}.", path=path, reason=error.strerror
            ) from None
        except (ValueError, KeyError, TypeError, AttributeError):  # their messages could contain values of the data
            raise ReleaseError(
                "not-a-mapping",
                "'{path}' is not a mapping.",
                remedy="The mapping is the file mapping.json in the owner-only folder beside a release.",
                path=path,
            ) from None

    def document(self) -> dict[str, Any]:
        """Return the mapping as plain data: pairs of original and released values, because a value may be missing."""
        return {"kept": self.kept, "columns": {name: list(values.items()) for name, values in self.columns.items()}}

    def apply(self, data: Any) -> Table:
        """Apply the mapping to new data. Values that it does not contain are refused."""
        table = read(data)
        lacking = [name for name in self.kept if name not in table]
        if lacking:
            raise ReleaseError(
                "column-not-in-data", "The data have no column '{column}', which the release has.", column=lacking[0]
            )
        mapped = [self._mapped(table, name) for name in self.kept]
        return Table.of(mapped, table.records, table.source)

    def _mapped(self, table: Table, name: str) -> Encoded:
        column, codes = table[name], table.codes(name)
        if name not in self.columns:
            return Encoded(*compacted(column, codes))
        known = self.columns[name]
        labels = [_as_known(label, known) for label in column.labels().to_pylist()]
        unknown = np.array([label not in known for label in labels], bool)
        records = int(np.count_nonzero(unknown[codes]))
        if records:
            raise ReleaseError(
                "values-not-mapped",
                "Column '{column}' has values in {records:record} that the mapping does not contain.",
                remedy="Make a new release, or remove these records.",
                column=name,
                records=records,
            )
        mapped, place = labelled(name, [known.get(label) for label in labels])
        return Encoded(*compacted(mapped, place.astype(narrowest(max(mapped.size, 1)))[codes]))


def _as_known(label: str | None, known: Mapping[str | None, str | None]) -> str | None:
    """Return a whole number without its fraction of 0, if the mapping contains it in this form.

    pandas adds such fractions to integers in columns with missing values.

    >>> _as_known("31.0", {"31": "30-39"}), _as_known("31.5", {"31": "30-39"})
    ('31', '31.5')
    """
    whole = None if label is None else label.removesuffix(".0")
    return whole if label not in known and whole in known else label
