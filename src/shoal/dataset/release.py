"""The release of a dataset: the tables that go out, verified together from where they were written."""

import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.dataset.histories import alone
from shoal.dataset.part import Part
from shoal.dataset.verification import Made, verify_all
from shoal.disclosure import USUAL
from shoal.errors import WriteError, counted
from shoal.policy.policy import Policy
from shoal.policy.references import Reference
from shoal.progress import Hook
from shoal.release.fingerprint import fingerprint
from shoal.release.manifest import plain, told, written
from shoal.sheet import Sheet, Shown
from shoal.table.databases.database import Address, Stored, is_address
from shoal.table.formats.format import FORMATS
from shoal.table.table import Table
from shoal.table.writing import replacing, write, write_stored


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DatasetRelease(Shown):
    """Tables that belong together, as they go out. ``references``: who refers to whom, in the release as before."""

    parts: Mapping[str, Part]
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
        found = []
        for name, part in self.parts.items():
            if part.orphans:
                found.append(f"{name}: {counted(part.orphans, 'record')} referred to nothing, and are left out.")
            if part.followed:
                found.append(f"{name}: {counted(part.followed, 'record')} are left out with what they refer to.")
            if part.release is None:
                found.append(f"{name}: nothing is required of it.")
            found += [f"{name}: {note}" for note in part.notes]
        persons, everybody = self.alone
        if persons:
            found.append(
                f"Who knows all records of a person in all tables at once, and not only one, can tell {persons:,} of "
                f"{counted(everybody, 'person')} apart."
            )
        return tuple(found)

    def sheet(self) -> Sheet:
        """Return what goes out of each table."""
        rows = []
        for name, part in self.parts.items():
            asked = () if part.release is None else part.release.requirements
            attained = ", ".join(dict.fromkeys(one.verdict.attained for one in asked)) or "nothing is required"
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
        with _folder(Path(str(where))) as folder, self._manifests(folder, force=force) as (names, finish):
            targets = {name: f"{name}{suffix or _suffix(table)}" for name, table in self.tables.items()}
            files = {name: folder / file for name, file in targets.items()}
            _written(dict(self.tables), files, finish, {}, force=force, progress=progress)
        return (*(Path(str(where)) / name for name in [*targets.values(), *(path.name for path in names)]),)

    def _save_stored(
        self, address: Address, beside: Path, *, force: bool, progress: Hook | None
    ) -> tuple[Path | str, ...]:
        beside.mkdir(parents=True, exist_ok=True)
        with self._manifests(beside, force=force) as (names, finish):

            def look(stored: Mapping[str, Stored]) -> None:
                finish({name: (held, {}) for name, held in stored.items()})

            saved = write_stored(self.tables, address, force=force, progress=progress, check_written=look)
        return *saved, *names

    @contextmanager
    def _manifests(self, folder: Path, *, force: bool) -> Iterator[tuple[list[Path], Callable[[Made], None]]]:
        """Give the paths of the manifests, and what verifies written tables and writes them."""
        names = {part: folder / f"dataset.{part}.json" for part in ("manifest", "internal")}
        with ExitStack() as all_or_none:
            files = {part: all_or_none.enter_context(replacing(file, force=force)) for part, file in names.items()}

            def finish(made: Made) -> None:
                verify_all(self.parts, self.policy, made)
                for part, text in self._documents().items():
                    files[part].write_text(text, encoding="utf-8")

            yield list(names.values()), finish

    def result(self) -> dict[str, Any]:
        """Return what is known about it as plain data."""
        tables = {name: self._goes_out(name, part) for name, part in self.parts.items()}
        return {"tables": plain(tables), "references": [str(one) for one in self.references], "notes": list(self.notes)}

    def _documents(self) -> dict[str, str]:
        """Return both manifests."""
        common = {"references": [str(one) for one in self.references], "verified": True}
        told_apart = dict(zip(("alone", "persons"), self.alone, strict=True))
        held = {name: self._facts(name, part) for name, part in self.parts.items()}
        internal = {**common, "policy": self.policy.document(), "knowing_all_records": told_apart, "tables": held}
        goes_out = {name: self._goes_out(name, part) for name, part in self.parts.items()}
        return {"internal": written(internal), "manifest": written({**common, "tables": goes_out})}

    def _facts(self, name: str, part: Part) -> dict[str, Any]:
        own = {} if part.release is None else dict(part.release.internal)
        left = {"orphans": part.orphans, "left_out_with_others": part.followed, "left_out": list(part.left_out)}
        return {**own, **left, **self._about(name, part)}

    def _goes_out(self, name: str, part: Part) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        if part.release is not None:
            persons = part.table.records if part.whose is None else len(np.unique(part.whose.codes))
            facts = told(part.release.public, self.policy.of(name).k or USUAL, persons)
        return {**facts, **self._about(name, part)}

    def _about(self, name: str, part: Part) -> dict[str, Any]:
        """Return what may be known of a table, however it was made."""
        dates = self.policy.of(name).dates
        return {
            "records": part.table.records,
            "columns": {column: str(role) for column, role in part.table.roles.items()},
            "pseudonyms": list(part.pseudonyms),
            **({} if dates is None else {"moved_dates": dates.columns}),
            "table_fingerprint": fingerprint(part.table),
        }


def _written(  # noqa: PLR0913 - what is written, where, and what is done at last
    tables: dict[str, Table],
    files: Mapping[str, Path],
    finish: Callable[[Made], None],
    made: Made,
    *,
    force: bool,
    progress: Hook | None,
) -> None:
    """Write tables, each while the one before it has not appeared yet; at last, all can be looked at together."""
    if not tables:
        finish(made)
        return
    name, rest = next(iter(tables)), dict(list(tables.items())[1:])

    def look(source: Path | Stored, options: Mapping[str, Any]) -> None:
        _written(rest, files, finish, {**made, name: (source, options)}, force=force, progress=progress)

    write(tables[name], files[name], force=force, progress=progress, check_written=look)


@contextmanager
def _folder(target: Path) -> Iterator[Path]:
    """Give the folder to write into: that which is there, or one that gets its name once all is well."""
    if target.exists() and not target.is_dir():
        raise WriteError(f"'{target}' is a file, not a folder.", hint="Several tables are written into a folder.")
    if target.exists():
        yield target
        return
    if not target.absolute().parent.is_dir():
        raise WriteError(f"There is no folder '{target.parent}' to write into.")
    hidden = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    hidden.mkdir()
    try:
        yield hidden
        hidden.rename(target)
    finally:
        with suppress(OSError):
            shutil.rmtree(hidden)


def _suffix(table: Table) -> str:
    """Return how files are called of the format that a table came in, if that can be written."""
    origin = table.source.origin
    return FORMATS[origin].writes[0] if origin in set(FORMATS) and FORMATS[origin].writes else ".parquet"


def checked(release: DatasetRelease) -> DatasetRelease:
    """Write a release where nobody else can read it, and judge it; one that fails is not handed out."""
    with tempfile.TemporaryDirectory(prefix="shoal-") as name:
        release.save(Path(name) / "release", suffix=".parquet")
    return release
