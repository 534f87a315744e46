"""A dataset: several tables read according to one policy, and the references between them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.dataset.links import Records, named_records, whose
from shoal.errors import PolicyError, ReadError, did_you_mean
from shoal.policy.policy import Policy
from shoal.policy.references import Reference, in_order, references
from shoal.progress import Hook, Progress, silent
from shoal.sheet import Presentable, Sheet
from shoal.table.databases.database import Address, database_of, is_address
from shoal.table.formats.format import FORMATS
from shoal.table.options import Options
from shoal.table.reading import read, read_sample
from shoal.table.table import Table
from shoal.validation import validated
from shoal.words import counted

NO_POLICY = Policy(version=1)
_FEW = 1000  # records read to compare the columns of files


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dataset(Presentable):
    """Tables that belong together, and their policy.

    ``tables``: the tables by name; with a policy, those that it describes, referenced tables first.
    """

    __module__ = "shoal"

    tables: Mapping[str, Table]
    policy: Policy = NO_POLICY

    @classmethod
    def read(
        cls, source: Any, policy: Policy | str | Path | None = None, *, progress: Hook | None = None, **options: Any
    ) -> "Dataset":
        """Read the tables of a folder, of a database, or of a mapping of names to sources.

        ``policy``: a policy that describes tables; only these are read, each with its import settings. Without a policy
        every file of the folder is a table, named like the file. ``options``: further import settings for all tables.

        >>> dataset = Dataset.read({"patients": {"id": [1, 2]}, "stays": {"patient": [1, 1, 2]}})
        >>> {name: table.records for name, table in dataset.tables.items()}
        {'patients': 2, 'stays': 3}
        """
        hook = progress or silent
        if policy is None:
            names = names_in(source)
            common = validated(Options, options, where="The reading options", error=ReadError)
            return cls(_tables(source, dict.fromkeys(names, common), hook))
        chosen = Policy.given(policy)
        return cls(_tables(source, _reading(chosen, options), hook), chosen)

    def under(self, policy: Policy | str | Path | None) -> "Dataset":
        """Return the tables that a policy describes, with this policy; None: the policy of the dataset."""
        chosen = self.policy if policy is None else Policy.given(policy)
        names = _described(chosen)
        for name in names:
            if name not in self.tables:
                raise _not_given(name, self.tables)
        return Dataset({name: self.tables[name] for name in names}, chosen)

    @property
    def references(self) -> tuple[Reference, ...]:
        """References between the tables."""
        return references(self.policy.tables)

    @property
    def has_individuals(self) -> bool:
        """Whether the policy names a column that identifies the individuals of a table."""
        tables = self.policy.tables.values()
        return self.policy.data.subject is not None or any(table.subject is not None for table in tables)

    def lists_no_individuals(self, name: str) -> bool:
        """Return whether the records of a table are no individuals, such as wards, so that no requirement applies.

        It has an empty list of requirements, and no column identifies its individuals, while there is one for other
        tables. Its values count as known in the tables that refer to it.
        """
        exempt = self.policy.tables[name].require == [] and self.has_individuals
        return exempt and whose(self.policy, {other: table.names for other, table in self.tables.items()}, name) is None

    def refers(self, name: str) -> tuple[Reference, ...]:
        """Return the references of a table to other tables."""
        return tuple(reference for reference in self.references if reference.table == name)

    def referred(self, name: str) -> tuple[Reference, ...]:
        """Return the references of other tables to a table."""
        return tuple(reference for reference in self.references if reference.other == name)

    def keys(self, name: str) -> frozenset[str]:
        """Return the columns of a table that refer to other tables, or to which other tables refer."""
        own = {reference.column for reference in self.refers(name)}
        return frozenset(own | {reference.key for reference in self.referred(name)})

    def link(self, reference: Reference) -> Records:
        """Return the referenced record of each record of a table; −1 if there is none."""
        return named_records(
            self.tables[reference.table], reference.column, self.tables[reference.other], reference.key
        )

    def sheet(self) -> Sheet:
        """Return the size and the references of each table."""
        rows = tuple(
            (name, f"{table.records:,}", f"{len(table.columns):,}", ", ".join(map(str, self.refers(name))))
            for name, table in self.tables.items()
        )
        title = f"Dataset: {counted(len(self.tables), 'table')}"
        return Sheet(title, ("table", "records", "columns", "references"), rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the size of each table, and the references between them."""
        sizes = {name: {"records": table.records, "columns": list(table.names)} for name, table in self.tables.items()}
        return {"tables": sizes, "references": [str(reference) for reference in self.references]}


def _described(policy: Policy) -> tuple[str, ...]:
    """Return the tables that a policy describes, referenced tables first."""
    if not policy.tables:
        raise PolicyError(
            "no-tables",
            "No policy describes the tables.",
            remedy="Give a policy that does. The command shoal init FOLDER -o policy.toml writes a starter policy.",
        )
    return in_order(policy.tables)


def _reading(policy: Policy, more: Mapping[str, Any]) -> dict[str, Options]:
    """Return the import settings of each table that a policy describes."""
    return {
        name: validated(
            Options,
            {**policy.of(name).data.read.model_dump(exclude_unset=True), **more},
            where="The reading options",
            error=ReadError,
        )
        for name in _described(policy)
    }


def _tables(source: Any, options: Mapping[str, Options], progress: Hook) -> dict[str, Table]:
    read_all = _of_database if is_address(source) else _one_by_one
    return {name: table.in_memory() for name, table in read_all(source, options, progress).items()}


def names_in(source: Any) -> list[str]:
    """Return the names of the tables of a folder or a mapping.

    >>> names_in({"patients": {"id": [1, 2]}, "stays": {"patient": [1, 1, 2]}})
    ['patients', 'stays']
    """
    if isinstance(source, Mapping):
        return list(source)
    if is_address(source):
        raise ReadError(
            "tables-of-database",
            "The tables of a database are read according to a policy that describes them.",
            remedy="Identify each table on its own, and describe all of them in one policy.",
        )
    _check_folder(source)
    return [_called(path) for path in _data_files(Path(source))]


def is_several(source: Any) -> bool:
    """Return whether a folder contains several tables: files with different names of columns."""
    if not isinstance(source, str | Path) or not Path(source).is_dir():
        return False
    files = [path for path in _data_files(Path(source)) if path.is_file()]
    return len(files) > 1 and len({frozenset(read_sample(path, most=_FEW)[0].names) for path in files}) > 1


def _called(path: Path) -> str:
    """Return the name of the table in a file or subfolder: its name without the suffix of the format."""
    ends = [end for end in _suffixes() if path.is_file() and path.name.lower().endswith(end)]
    return path.name[: len(path.name) - len(max(ends, key=len))] if ends else path.name


def _suffixes() -> set[str]:
    return {suffix for format_ in FORMATS.values() for suffix in format_.suffixes}


def _data_files(folder: Path) -> list[Path]:
    """Return the files and subfolders of a folder that may be tables; hidden files and manifests are none."""
    inside = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    return [path for path in inside if path.is_dir() or path.name.lower().endswith(tuple(_suffixes()))]


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
            raise _not_given(name, source)
        return source[name]
    _check_folder(source)
    return _file(Path(source), name)


def _not_given(name: str, tables: Iterable[str]) -> ReadError:
    return ReadError(
        "table-not-given",
        "The policy describes a table '{table}', which was not given.",
        remedy=did_you_mean(name, tables),
        table=name,
    )


def _check_folder(source: Any) -> None:
    """Refuse a source of several tables that is no folder."""
    if isinstance(source, str | Path) and not Path(source).exists():
        raise ReadError("no-file", "There is no folder '{path}'.", path=source)
    if not isinstance(source, str | Path) or not Path(source).is_dir():
        raise ReadError(
            "not-a-dataset",
            "Several tables are read from a folder, a database, or a mapping of names to tables.",
            remedy="The policy describes several tables: give the folder or database that contains them.",
        )


def _file(folder: Path, name: str) -> Path:
    """Return the file or subfolder of a folder that has the name of a table."""
    wanted = {name, *(f"{name}{suffix}" for suffix in _suffixes())}
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
