"""The release of a dataset: the tables that go out, verified together from where they were written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.dataset.histories import alone
from shoal.dataset.part import DatasetPart
from shoal.dataset.verification import verify_all
from shoal.errors import WriteError, counted
from shoal.fileset import DATASET, FileSet, owner_folder, sha256
from shoal.plain import plain
from shoal.policy.policy import Policy
from shoal.policy.references import Reference
from shoal.progress import Hook
from shoal.release.fingerprint import fingerprint
from shoal.release.manifest import written
from shoal.release.published import figures, published
from shoal.scratch import scratch_folder
from shoal.sheet import Presentable, Sheet
from shoal.table.databases.database import Address, Stored, is_address
from shoal.table.formats.format import FORMATS
from shoal.table.table import Table
from shoal.table.writing import write, write_stored


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DatasetRelease(Presentable):
    """Tables that belong together, as they go out. ``references``: who refers to whom, in the release as before."""

    __module__ = "shoal"

    parts: Mapping[str, DatasetPart]
    references: tuple[Reference, ...]
    policy: Policy

    @property
    def tables(self) -> dict[str, Table]:
        """The tables that go out."""
        return {name: part.table for name, part in self.parts.items()}

    @property
    def alone(self) -> tuple[int, int]:
        """How many persons are the only ones with all that their records show together; and how many there are."""
        return alone(self.parts.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What the owner should know."""
        notes = []
        for name, part in self.parts.items():
            if part.orphans:
                notes.append(f"{name}: {counted(part.orphans, 'record')} referred to nothing, and are left out.")
            if part.followed:
                notes.append(f"{name}: {counted(part.followed, 'record')} are left out with what they refer to.")
            if part.release is None:
                notes.append(f"{name}: nothing is required of it.")
            notes += [f"{name}: {note}" for note in part.notes]
        persons, everybody = self.alone
        if persons:
            notes.append(
                f"Who knows all records of a person in all tables at once, and not only one, can tell {persons:,} of "
                f"{counted(everybody, 'person')} apart."
            )
        return tuple(notes)

    def sheet(self) -> Sheet:
        """Return what goes out of each table."""
        rows = []
        for name, part in self.parts.items():
            asked = () if part.release is None else part.release.requirements
            attained = (
                ", ".join(dict.fromkeys(requirement.verdict.attained for requirement in asked)) or "nothing is required"
            )
            rows.append((name, f"{part.table.records:,}", f"{len(part.became) - part.table.records:,}", attained))
        records = sum(part.table.records for part in self.parts.values())
        title = f"{counted(records, 'record')} released in {counted(len(self.parts), 'table')}."
        return Sheet(title, ("table", "records", "left out", ""), tuple(rows), self.notes, words=3)

    def save(
        self,
        where: str | Path | Address,
        *,
        suffix: str | None = None,
        force: bool = False,
        beside: str | Path | None = None,
        progress: Hook | None = None,
    ) -> tuple[Path | str, ...]:
        """Write all tables, and their manifests; nothing appears unless all were verified together.

        ``where``: a folder, in which each table is a file of its name with the ``suffix``, or in the format in which it
        came; or the address of a database, in which each is a table. ``beside``: the folder for the manifests then.
        """
        if is_address(where):
            return self._save_stored(Address.parse(where), Path(beside or "."), force=force, progress=progress)
        if beside is not None:
            raise WriteError("What is written with files is written beside them.", hint="Leave out beside.")
        target = Path(str(where))
        paths = {name: target / f"{name}{suffix or _suffix(table)}" for name, table in self.tables.items()}
        with FileSet(last=target / DATASET, force=force, never=self._inputs()) as files:
            folder, written = files.folder(target), dict[str, tuple[Path | Stored, Mapping[str, Any]]]()
            for name, table in self.tables.items():
                note = _noting(written, name)
                write(table, paths[name], force=force, progress=progress, files=files, check_written=note)
            verify_all(self.parts, self.policy, written)
            hashes = {paths[name].name: sha256(Path(str(source))) for name, (source, _) in written.items()}
            names = self._write_documents(files, folder, target, {"files": hashes})
        return *paths.values(), *names

    def _save_stored(
        self, address: Address, beside: Path, *, force: bool, progress: Hook | None
    ) -> tuple[Path | str, ...]:
        beside.mkdir(parents=True, exist_ok=True)
        names: list[Path] = []
        with FileSet(last=beside / DATASET, force=force, never=self._inputs()) as files:

            def look(stored: Mapping[str, Stored]) -> None:
                verify_all(self.parts, self.policy, {name: (stored_at, {}) for name, stored_at in stored.items()})
                names.extend(self._write_documents(files, beside, beside / "dataset", {}))

            saved = write_stored(self.tables, address, force=force, progress=progress, check_written=look)
        return *saved, *names

    def _inputs(self) -> tuple[Path, ...]:
        """Return the files that it is made of, which are never replaced."""
        return (*(file for part in self.parts.values() for file in part.table.source.files), *self.policy.files())

    def _write_documents(self, files: FileSet, folder: Path, name: Path, named: Mapping[str, Any]) -> list[Path]:
        """Write the manifests and the owner's files; the public manifest is the last file."""
        owner = files.folder(owner_folder(name), private=True)
        goes_out, internal = self._documents(named)
        files.add(owner / "internal.json", private=True).write_text(internal, encoding="utf-8")
        fresh = {f"{name}.draw.key": part.release.key for name, part in self.parts.items() if part.release is not None}
        keys = {name: key.decode() for name, key in fresh.items() if key is not None}
        for secret, key in keys.items():
            files.add(owner / secret, private=True).write_text(f"{key}\n", encoding="utf-8")
        files.add(folder / DATASET).write_text(goes_out, encoding="utf-8")
        return [folder / DATASET, owner / "internal.json", *(owner / name for name in keys)]

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain data: what ``shoal anonymize --json`` prints."""
        tables = {name: self._goes_out(name, part) for name, part in self.parts.items()}
        return {
            "tables": plain(tables),
            "references": [str(reference) for reference in self.references],
            "notes": list(self.notes),
        }

    def _documents(self, named: Mapping[str, Any]) -> tuple[str, str]:
        """Return the public and the internal manifest."""
        common = {"references": [str(reference) for reference in self.references], "verified": True, **named}
        told_apart = dict(zip(("alone", "persons"), self.alone, strict=True))
        facts = {name: self._facts(name, part) for name, part in self.parts.items()}
        internal = {**common, "policy": self.policy.document(), "knowing_all_records": told_apart, "tables": facts}
        goes_out = {name: self._goes_out(name, part) for name, part in self.parts.items()}
        return written({**common, "tables": goes_out}), written(internal)

    def _facts(self, name: str, part: DatasetPart) -> dict[str, Any]:
        own = {} if part.release is None else dict(part.release.internal)
        left = {"orphans": part.orphans, "left_out_with_others": part.followed, "left_out": list(part.left_out)}
        return {**own, **left, **self._about(name, part)}

    def _goes_out(self, name: str, part: DatasetPart) -> dict[str, Any]:
        if part.release is None:
            return self._about(name, part)
        policy = self.policy.of(name)
        chosen = figures(part.release.policy, part.release.suppressed, part.release.given)
        return {**published(part.table, policy, chosen), **self._about(name, part)}

    def _about(self, name: str, part: DatasetPart) -> dict[str, Any]:
        """Return what may be known of a table, however it was made."""
        dates = self.policy.of(name).dates
        return {
            "records": part.table.records,
            "columns": {column: str(role) for column, role in part.table.roles.items()},
            "pseudonyms": list(part.pseudonyms),
            **({} if dates is None else {"moved_dates": dates.columns}),
            "table_fingerprint": fingerprint(part.table),
        }


def _noting(
    written: dict[str, tuple[Path | Stored, Mapping[str, Any]]], name: str
) -> Callable[[Path | Stored, Mapping[str, Any]], None]:
    """Return a callback that records where a table was written; all tables are verified together."""

    def note(source: Path | Stored, options: Mapping[str, Any]) -> None:
        written[name] = source, options

    return note


def _suffix(table: Table) -> str:
    """Return how files are called of the format that a table came in, if that can be written."""
    origin = table.source.origin
    return FORMATS[origin].writes[0] if origin in set(FORMATS) and FORMATS[origin].writes else ".parquet"


def checked(release: DatasetRelease) -> DatasetRelease:
    """Write a release where nobody else can read it, and judge it; one that fails is not handed out."""
    with scratch_folder() as folder:
        release.save(folder / "release", suffix=".parquet")
    return release
