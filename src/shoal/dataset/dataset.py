"""A dataset: several tables read according to one policy, and the references between them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import PolicyError, ReadError, did_you_mean
from shoal.policy.policy import Policy
from shoal.policy.references import Reference, in_order, references
from shoal.progress import Hook, Progress, silent
from shoal.table.databases.database import Address, database_of, is_address
from shoal.table.formats.format import FORMATS
from shoal.table.options import Options
from shoal.table.reading import read
from shoal.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Tables that belong together, and their policy.

    ``tables``: the tables that the policy describes, referenced tables first. Other tables are not read.
    """

    tables: Mapping[str, Table]
    policy: Policy

    @classmethod
    def of(cls, source: Any, policy: Policy | str | Path, progress: Hook | None = None) -> "Dataset":
        """Read the tables of a folder, of a database, or of a mapping of names to sources.

        >>> policy = Policy(version=1, tables={"patients": {"columns": {"age": "quasi"}}})
        >>> list(Dataset.of({"patients": {"age": [31, 34]}}, policy).tables)
        ['patients']
        """
        chosen, hook = Policy.given(policy), progress or silent
        if not chosen.tables:
            raise PolicyError(
                "no-tables",
                "The policy describes no tables.",
                remedy="Describe each table under [tables.NAME.columns].",
            )
        options = {name: chosen.of(name).data.read for name in in_order(chosen.tables)}
        tables = _of_database(source, options, hook) if is_address(source) else _one_by_one(source, options, hook)
        return cls({name: table.in_memory() for name, table in tables.items()}, chosen)

    @property
    def references(self) -> tuple[Reference, ...]:
        """References between the tables."""
        return references(self.policy.tables)

    def refers(self, name: str) -> tuple[Reference, ...]:
        """Return the references of a table to other tables."""
        return tuple(reference for reference in self.references if reference.table == name)

    def referred(self, name: str) -> tuple[Reference, ...]:
        """Return the references of other tables to a table."""
        return tuple(reference for reference in self.references if reference.other == name)


def _of_database(source: str | Address, options: Mapping[str, Options], progress: Hook) -> dict[str, Table]:
    """Read tables of a database, all in one consistent state."""
    address = Address.parse(source)
    if address.table is not None:
        raise ReadError(
            "table-in-address",
            "The address names the table '{table}', and the policy describes several tables.",
            remedy="Give the address of the database, without a table.",
            table=address.table,
        )
    with database_of(address).opened(address, list(options)) as stored:
        pairs = zip(options.items(), stored, strict=True)
        return {name: database.read(options, progress) for (name, options), database in pairs}


def _one_by_one(source: Any, options: Mapping[str, Options], progress: Hook) -> dict[str, Table]:
    tables = {}
    for done, (name, table_options) in enumerate(options.items()):
        progress(Progress(f"reading {name}", done, len(options)))
        tables[name] = read(_source(source, name), **table_options.model_dump(exclude_unset=True))
    return tables


def _source(source: Any, name: str) -> Any:
    """Return the source of a table of a dataset."""
    if isinstance(source, Mapping):
        if name not in source:
            raise ReadError(
                "table-not-given",
                "The policy describes a table '{table}', which was not given.",
                remedy=did_you_mean(name, source),
                table=name,
            )
        return source[name]
    if isinstance(source, str | Path) and not Path(source).exists():
        raise ReadError("no-file", "There is no folder '{path}'.", path=source)
    if not isinstance(source, str | Path) or not Path(source).is_dir():
        raise ReadError(
            "not-a-dataset",
            "Several tables are read from a folder, a database, or a mapping of names to tables.",
            remedy="The policy describes several tables: give the folder or database that contains them.",
        )
    return _file(Path(source), name)


def _file(folder: Path, name: str) -> Path:
    """Return the file or subfolder of a folder that has the name of a table."""
    suffixes = [suffix for format_ in FORMATS.values() for suffix in format_.suffixes]
    wanted = {name, *(f"{name}{suffix}" for suffix in suffixes)}
    fitting = [
        path for path in sorted(folder.iterdir()) if path.name in wanted and (path.name != name or path.is_dir())
    ]
    if len(fitting) == 1:
        return fitting[0]
    what = "no file" if not fitting else f"{len(fitting)} files"
    raise ReadError(
        "no-file-of-table",
        "The folder '{folder}' has {what} for the table '{table}'.",
        remedy="Name the file like the table, for example {table}.csv.",
        folder=folder,
        what=what,
        table=name,
    )
