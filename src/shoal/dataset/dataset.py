"""A dataset: several tables, read as one policy says, and who refers to whom."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import PolicyError, ReadError, counted
from shoal.policy.policy import Policy
from shoal.policy.references import Reference, in_order, references
from shoal.progress import Hook, Progress, silent
from shoal.table.column import Column
from shoal.table.databases.database import Address, is_address
from shoal.table.files import files_of
from shoal.table.formats.format import FORMATS
from shoal.table.reading import read
from shoal.table.table import Table

_BESIDE = (".manifest.json", ".internal.json", ".mapping.json")


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """``tables``: those that the policy names, others are not read; those that others refer to come first."""

    tables: Mapping[str, Table]
    policy: Policy

    @classmethod
    def of(cls, source: Any, policy: Policy | str | Path, progress: Hook | None = None) -> "Dataset":
        """Read the tables of a folder, of a database, or of a mapping of names to whatever can be read.

        >>> policy = Policy(version=1, tables={"patients": {"columns": {"age": "quasi"}}})
        >>> list(Dataset.of({"patients": {"age": [31, 34]}}, policy).tables)
        ['patients']
        """
        chosen, hook = Policy.given(policy), progress or silent
        if not chosen.tables:
            raise PolicyError("The policy names no tables.", hint="Say what each is: [tables.patients.columns] …")
        names, tables = in_order(chosen.tables), {}
        for done, name in enumerate(names):
            hook(Progress(f"reading {name}", done, len(names)))
            options = chosen.of(name).data.read.model_dump(exclude_unset=True)
            tables[name] = read(_source(source, name), **options).held()
        return cls(tables, chosen)

    @property
    def references(self) -> tuple[Reference, ...]:
        """Who refers to whom."""
        return references(self.policy.tables)


def _source(source: Any, name: str) -> Any:
    """Return where a table of a dataset is."""
    if is_address(source):
        return Address.parse(source).of(name)
    if isinstance(source, Mapping):
        if name not in source:
            raise ReadError(f"The policy names a table '{name}', which was not given.")
        return source[name]
    if not isinstance(source, str | Path) or not Path(source).is_dir():
        raise ReadError(
            "Several tables are read from a folder, a database or a mapping of names to tables.",
            hint="The policy names tables: give the folder in which they are.",
        )
    return _file(Path(source), name)


def _file(folder: Path, name: str) -> Path:
    """Return the file of a folder, or the folder in it, that is called like a table."""
    known = tuple(suffix for one in FORMATS.values() for suffix in one.suffixes)
    fitting = [
        path
        for path in sorted(folder.iterdir())
        if (path.name == name and path.is_dir())
        or (path.name.lower().endswith(known) and not path.name.endswith(_BESIDE) and path.name.split(".")[0] == name)
    ]  # fmt: skip
    if len(fitting) == 1:
        return fitting[0] if fitting[0].is_dir() else files_of(fitting[0])[0]
    what = "no file" if not fitting else f"{len(fitting)} files"
    raise ReadError(
        f"The folder '{folder}' has {what} of the table '{name}'.", hint=f"It looks for {name}.csv and such."
    )


def named_records(table: Table, column: str, other: Table, key: str) -> NDArray[np.intp]:
    """Return the record of another table that each record names by what that has in its key; −1: it names none.

    >>> import shoal
    >>> stays, patients = shoal.read({"patient": [7, 9, 7, None]}), shoal.read({"id": [5, 7]})
    >>> named_records(stays, "patient", patients, "id").tolist()
    [1, -1, 1, -1]
    """
    where = np.full(other[key].size + 1, -1, np.intp)
    where[other.codes(key)] = np.arange(other.records)
    return np.asarray(where[_places(table[column], other[key])[table.codes(column)]])


def _places(column: Column, key: Column) -> NDArray[np.intp]:
    """Return the code of a key that each code of a column stands for; the one after its last stands for none."""
    texts = column.labels()[: len(column.values)]
    found = pc.index_in(texts, key.labels()[: len(key.values)]).fill_null(key.size)
    tail = np.full(column.size - len(column.values), key.size, np.intp)
    return np.concatenate([found.to_numpy(zero_copy_only=False).astype(np.intp), tail])


def check_key(table: Table, name: str, key: str) -> None:
    """Refuse a key that is missing in records, or the same in several."""
    column = table[key]
    if column.missing or column.suppressed:
        raise PolicyError(f"Others refer to '{name}' by its column '{key}', which is empty in some records.")
    twice = int(np.count_nonzero(table.counts(key) > 1))
    if twice:
        raise PolicyError(
            f"Others refer to '{name}' by its column '{key}', but {counted(twice, 'value')} in it "
            "are those of several records.",
            hint="Records that are referred to must have keys of their own.",
        )
