"""Saving: tables, manifests and the owner's files appear together after verification, or not at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import WriteError
from shoal.fileset import DATASET, MANIFEST, FileSet, check_name, owner_folder, sha256
from shoal.integrity import further_files
from shoal.policy.policy import Policy
from shoal.progress import Hook
from shoal.release.documents import Documents
from shoal.release.part import ReleasePart
from shoal.release.verification import Written, noting, verify
from shoal.remedy import Option, by
from shoal.table.databases.database import Address, Stored, database_of, is_address
from shoal.table.formats.format import FORMATS
from shoal.table.table import Table
from shoal.table.writing import write, write_stored


@dataclass(frozen=True, slots=True, eq=False)
class Saving:
    """A release that is being written.

    ``parts``, ``policy``: those of the release. ``force``: whether existing files are replaced. ``separator``: the
    separator of a CSV file. ``suffix``: the suffix of the files of several tables. ``beside``: the folder for the
    manifests of tables in a database.
    """

    parts: Mapping[str, ReleasePart]
    policy: Policy
    force: bool = False
    separator: str | None = None
    suffix: str | None = None
    beside: Path | None = None
    progress: Hook | None = None

    def to(self, where: str | Path | Address) -> tuple[Path | str, ...]:
        """Write everything, and return the paths."""
        if self.separator is not None and self.policy.tables:
            raise WriteError(
                "option-of-single-table", "A separator applies to the file of a single table.", remedy="Omit separator."
            )
        if self.suffix is not None and (is_address(where) or not self.policy.tables):
            raise WriteError(
                "option-of-several-tables", "A suffix applies to the files of several tables.", remedy="Omit suffix."
            )
        if is_address(where):
            return self._to_database(Address.parse(where))
        if self.beside is not None:
            raise WriteError(
                "manifests-beside-files", "Manifests of files are written beside the files.", remedy="Omit beside."
            )
        return self._to_folder(Path(str(where))) if self.policy.tables else self._to_file(Path(str(where)))

    @property
    def _tables(self) -> dict[str, Table]:
        return {name: table for part in self.parts.values() for name, table in part.promise.tables.items()}

    @property
    def _inputs(self) -> tuple[Path, ...]:
        """The input files, which are never replaced."""
        return (*(file for part in self.parts.values() for file in part.given.source.files), *self.policy.files())

    def _to_file(self, target: Path) -> tuple[Path | str, ...]:
        """Write a single table; columns that were split off get a file of their own."""
        check_name(target)
        if target.is_dir() or not target.name:
            raise WriteError(
                "is-a-folder",
                "'{path}' is a folder.",
                remedy="Give the name of a file, such as release.csv.",
                path=target,
            )
        first = next(iter(self._tables))
        paths = {name: target.with_stem(f"{target.stem}{name.removeprefix(first)}") for name in self._tables}
        with FileSet(last=_manifest(target), force=self.force, never=self._inputs) as files:
            return self._to_files(files, paths, _manifest(target), owner_folder(target))

    def _to_folder(self, target: Path) -> tuple[Path | str, ...]:
        """Write several tables to a folder."""
        if target.is_file() or target.suffix.lower() in {
            suffix for format_ in FORMATS.values() for suffix in format_.suffixes
        }:
            raise WriteError(
                "not-a-folder",
                "A release of several tables is written to a folder, and '{path}' is the name of a file.",
                remedy=["Give the name of a folder.", by("Choose the format of its files", Option("suffix", ".csv"))],
                path=target.name,
            )
        paths = {name: target / f"{name}{self.suffix or _suffix(table)}" for name, table in self._tables.items()}
        with FileSet(last=target / DATASET, force=self.force, never=self._inputs) as files:
            files.folder(target)
            return self._to_files(files, paths, target / DATASET, owner_folder(target))

    def _to_files(
        self, files: FileSet, paths: Mapping[str, Path], manifest: Path, owner: Path
    ) -> tuple[Path | str, ...]:
        written: dict[str, tuple[Path | Stored, Mapping[str, Any]]] = {}
        for name, table in self._tables.items():
            write(
                table,
                paths[name],
                force=self.force,
                separator=self.separator or self._separator(paths[name], table),
                progress=self.progress,
                files=files,
                check_written=noting(written, name),
            )
        for outdated in further_files(manifest):  # of the release that is replaced
            if outdated not in paths.values():
                files.remove(outdated)
        self._verify(written)
        hashes = {paths[name].name: sha256(Path(str(source))) for name, (source, _) in written.items()}
        return *paths.values(), *self._write_documents(files, manifest, owner, hashes)

    def _to_database(self, address: Address) -> tuple[Path | str, ...]:
        """Write tables to a database, and their manifests to a folder."""
        folder = self.beside or Path()
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / ("dataset" if self.policy.tables else address.name)
        manifest = folder / DATASET if self.policy.tables else _manifest(target)
        address, stored_as = self._stored_as(address)
        documents: list[Path] = []
        with FileSet(last=manifest, force=self.force, never=self._inputs) as files:

            def look(stored: Mapping[str, Stored]) -> None:
                self._verify({name: (stored[stored_as[name]], {}) for name in self._tables})
                documents.extend(self._write_documents(files, manifest, owner_folder(target), {}))

            tables = {stored_as[name]: table for name, table in self._tables.items()}
            places = write_stored(tables, address, force=self.force, progress=self.progress, check_written=look)
        return *places, *documents

    def _stored_as(self, address: Address) -> tuple[Address, dict[str, str]]:
        """Return the address of the database, and the name of each table in it."""
        first, *others = self._tables
        if self.policy.tables:
            return address, {name: name for name in self._tables}
        if not others:
            return address, {first: address.table or ""}  # the address itself may name the table
        address, table = database_of(address).named(address)
        further = {name: f"{table}{name.removeprefix(first).replace('.', '_')}" for name in others}
        return address, {first: table, **further}

    def _separator(self, path: Path, table: Table) -> str | None:
        """Return the separator of the file from which a single table was read."""
        if self.policy.tables or path.suffix.lower() != ".csv":
            return None
        separator: str | None = table.source.details.get("separator")
        return separator

    def _verify(self, written: Written) -> None:
        verify({name: part.promise for name, part in self.parts.items()}, self.policy, written)

    def _write_documents(self, files: FileSet, manifest: Path, owner: Path, hashes: Mapping[str, str]) -> list[Path]:
        """Write the manifests and the owner's files. The public manifest is written last."""
        documents, folder = Documents.of(self.parts, self.policy, hashes), files.folder(owner, private=True)
        for name, text in documents.owners.items():
            if text is None:
                files.remove(folder / name)
            else:
                files.add(folder / name, private=True).write_text(text, encoding="utf-8")
        files.add(manifest).write_text(documents.public, encoding="utf-8")
        return [manifest, *(folder / name for name, text in documents.owners.items() if text is not None)]


def _manifest(target: Path) -> Path:
    return target.with_name(f"{target.name}{MANIFEST}")


def _suffix(table: Table) -> str:
    """Return the suffix of the original format of a table; ``.parquet`` if this format cannot be written."""
    origin = table.source.origin
    return FORMATS[origin].writes[0] if origin in set(FORMATS) and FORMATS[origin].writes else ".parquet"
