"""The release: the table that goes out, and everything that was found out about it."""

import hashlib
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import ReleaseError, counted
from shoal.models.model import Model
from shoal.progress import Hook
from shoal.qualities.quality import Measured
from shoal.release.manifest import written
from shoal.release.mapping import ValueMap
from shoal.release.verification import Original, Verified, verify
from shoal.table.table import Table
from shoal.table.writing import replacing, write


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """A table whose every requirement was verified after it was written.

    ``scheme``: the level of each quasi-identifier. ``suppressed``: persons that are left out. ``quality``: what it
    cost, by measure. ``requirements``: what was asked for, and what the written table attains. ``internal``: what stays
    with the owner. ``public``: what may go out. ``mapping``: what every value became.
    """

    table: Table
    scheme: Mapping[str, int]
    suppressed: int
    suppressed_records: int
    classes: int
    quality: Mapping[str, Measured]
    requirements: tuple[Verified, ...]
    internal: Mapping[str, Any]
    public: Mapping[str, Any]
    mapping: ValueMap
    notes: tuple[str, ...]
    original: Original
    asked: tuple[tuple[str, str, Model], ...]

    @property
    def verified(self) -> bool:
        """Whether every requirement holds; a release that fails one is never handed out."""
        return all(one.verdict.satisfied for one in self.requirements)

    def to_frame(self, kind: str | None = None) -> Any:
        """Return the table as a dataframe: of the library it came from, or of the one named."""
        return self.table.to_frame(kind)

    def save(
        self, path: str | Path, *, force: bool = False, separator: str | None = None, progress: Hook | None = None
    ) -> tuple[Path, ...]:
        """Write the table and, beside it, both manifests and the mapping; nothing appears unless all is verified.

        ``out.csv`` comes with ``out.csv.manifest.json``, which may go out with it, ``out.csv.internal.json`` and
        ``out.csv.mapping.json``, which must not. Returns the paths.
        """
        target = Path(path)
        if separator is None and target.suffix.lower() == ".csv":
            separator = self.table.source.details.get("separator")  # as in the file that it came from
        parts = ("manifest", "internal", "mapping")
        manifest, internal, mapping = (target.with_name(f"{target.name}.{part}.json") for part in parts)
        with ExitStack() as all_or_none:
            beside = [all_or_none.enter_context(replacing(file, force=force)) for file in (internal, mapping, manifest)]

            def look(file: Path, options: Mapping[str, Any]) -> None:
                check(verify(file, self.table, self.original, self.asked, options))
                self._write_manifests(file, *beside)

            write(self.table, target, force=force, separator=separator, progress=progress, check_written=look)
        return target, manifest, internal, mapping

    def _write_manifests(self, table: Path, internal: Path, mapping: Path, manifest: Path) -> None:
        """Write what belongs to a written table, which they name by its hash."""
        file = {"file_sha256": hashlib.sha256(table.read_bytes()).hexdigest()}
        internal.write_text(written({**self.internal, **file}), encoding="utf-8")
        manifest.write_text(written({**self.public, **file}), encoding="utf-8")
        became = {
            "kept": self.mapping.kept,
            "columns": {name: list(held.items()) for name, held in self.mapping.columns.items()},
        }
        mapping.write_text(written(became), encoding="utf-8")


def check(found: tuple[Verified, ...]) -> tuple[Verified, ...]:
    """Refuse a release that fails a requirement."""
    failing = [one for one in found if not one.verdict.satisfied]
    if failing:
        raise ReleaseError(
            f"The written release does not meet {counted(len(failing), 'requirement')} "
            f"({failing[0].verdict.model}, {failing[0].verdict.asked}). It was not handed out.",
        )
    return found


def verified_in_a_file(
    table: Table, original: Original, asked: tuple[tuple[str, str, Model], ...]
) -> tuple[Verified, ...]:
    """Write a table to a file that nobody else can read, read it again and judge it."""
    found: list[tuple[Verified, ...]] = []
    with tempfile.TemporaryDirectory(prefix="shoal-") as folder:
        write(
            table,
            Path(folder) / "release.parquet",
            check_written=lambda file, options: found.append(verify(file, table, original, asked, options)),
        )
    return check(found[0])
