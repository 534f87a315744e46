"""The release: the table that goes out, and everything that was found out about it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines.memory import MemoryEngine
from shoal.errors import ReleaseError, WriteError, counted
from shoal.fileset import MANIFEST, FileSet, check_name, owner_folder, sha256
from shoal.models.model import Model
from shoal.plain import plain
from shoal.policy.policy import Policy
from shoal.progress import Hook
from shoal.qualities.quality import Measured
from shoal.release.fingerprint import fingerprint
from shoal.release.judgement import Judgement
from shoal.release.manifest import written
from shoal.release.mapping import ValueMap
from shoal.release.origins import Origins, can_be_kept
from shoal.release.published import figures, published
from shoal.release.sampling import taken
from shoal.release.verification import Original, as_written, judged, verify
from shoal.scratch import scratch_folder
from shoal.sheet import Presentable, Sheet
from shoal.table.databases.database import Address, Stored, is_address
from shoal.table.table import Table
from shoal.table.writing import write
from shoal.words import short


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Release(Presentable):
    """A table whose every requirement was verified after it was written.

    ``scheme``: the level of each quasi-identifier; empty for local recoding. ``levels``: the number of records on each
    level of each quasi-identifier. ``suppressed``: the number of suppressed persons. ``quality``: the quality measures.
    ``requirements``: all requirements, and how it is known that they are met. ``mapping``: the released value of every
    original value, for global recoding. ``policy``: the policy that it meets.

    For the owner only: ``facts``: the figures of the internal manifest. ``internal``: the internal manifest. ``given``:
    the original table. ``origins``: computes the original record of each released record. ``drawn``: the sampled
    records of the original. ``key``: the key of the sample, if the policy names none.
    """

    __module__ = "shoal"

    table: Table
    scheme: Mapping[str, int]
    levels: Mapping[str, list[int]]
    suppressed: int
    suppressed_records: int
    classes: int
    quality: Mapping[str, Measured]
    requirements: tuple[Judgement, ...]
    internal: Mapping[str, Any]
    facts: Mapping[str, Any]
    mapping: ValueMap | None
    notes: tuple[str, ...]
    original: Original
    asked: tuple[tuple[str, str, Model], ...]
    policy: Policy
    given: Table
    origins: Callable[[], NDArray[np.intp]]
    drawn: NDArray[np.intp] | None = None
    key: bytes | None = None

    @property
    def records(self) -> NDArray[np.intp]:
        """The original record of each released record; −1 for a counterfeit."""
        return self.origins()

    @property
    def verified(self) -> bool:
        """Whether every requirement holds; a release that fails one is never handed out."""
        return all(requirement.verdict.satisfied for requirement in self.requirements)

    def sheet(self) -> Sheet:
        """Return what was released, what it attains and what it cost."""
        left_out = f", {counted(self.suppressed, 'person')} left out" if self.suppressed else ""
        title = f"{counted(self.table.records, 'record')} released in {counted(self.classes, 'class')}{left_out}"
        judged = [
            (
                requirement.verdict.title,
                requirement.attained,
                f"{requirement.verdict.asked}: {requirement.outcome}",
            )
            for requirement in self.requirements
        ]
        levels = [(f"level of {name}", str(level), "") for name, level in self.scheme.items()]
        costs = [
            (name, short(measured.total.value), f"cost {measured.total.cost:.3f}")
            for name, measured in self.quality.items()
            if measured.total is not None
        ]
        return Sheet(f"{title}.", ("", "value", ""), (*judged, *levels, *costs), self.notes, words=3)

    def judged_also(self, judgements: tuple[Judgement, ...]) -> "Release":
        """Return the same release, with more requirements that were judged."""
        requirements = (*self.requirements, *judgements)
        documents = [judgement.to_dict() for judgement in requirements]
        internal = {**self.internal, "requirements": documents}
        return replace(
            self, requirements=requirements, facts={**self.facts, "requirements": documents}, internal=internal
        )

    def as_sample(self) -> "Release":
        """Return the same release, with the records that were drawn as its original."""
        if self.drawn is None:
            return self
        place = np.full(self.given.records + 1, -1, np.intp)
        place[self.drawn] = np.arange(len(self.drawn))
        origins = place[self.origins()]
        return replace(self, given=taken(self.given, self.drawn)[0], drawn=None, origins=lambda: origins)

    def noting(self, note: str) -> "Release":
        """Return the same release, with one more note."""
        return replace(self, notes=(*self.notes, note))

    def became(self, records: int) -> NDArray[np.intp]:
        """Return the released record of each of so many original records; −1 for a suppressed one."""
        return Origins(self.records).became(records)

    def to_dict(self) -> dict[str, Any]:
        """Return the facts about the release, for its owner: what ``shoal anonymize --json`` prints."""
        totals = {name: measured.total for name, measured in self.quality.items() if measured.total is not None}
        return {
            **plain(self.facts),
            "quality": {name: total.value for name, total in totals.items()},
            "cost": {name: total.cost for name, total in totals.items()},
            "verified": self.verified,
            "notes": list(self.notes),
        }

    def to_frame(self, kind: str | None = None) -> Any:
        """Return the table as a dataframe: of the library it came from, or of the one named."""
        return self.table.to_frame(kind)

    def save(
        self,
        path: str | Path | Address,
        *,
        force: bool = False,
        separator: str | None = None,
        beside: str | Path | None = None,
        progress: Hook | None = None,
    ) -> tuple[Path | str, ...]:
        """Write the table and its manifests, after verification of the written file.

        ``out.csv`` is published together with ``out.csv.manifest.json``. The folder ``out.csv.owner-only`` must stay
        with the owner and is readable by its owner only: ``internal.json``, ``mapping.json``, ``origins.json`` (the
        original record of each released record) and ``draw.key``. For a database table, such as
        ``postgresql://user@host/research?table=release``, the manifests are written to the folder ``beside``, or to the
        current one. Inputs are never overwritten. Returns the paths.
        """
        target = _place(path, beside)
        if separator is None and target.suffix.lower() == ".csv":
            separator = self.table.source.details.get("separator")  # as in the file that it came from
        never = (*self.given.source.files, *self.policy.files())
        names, manifest = list[Path](), target.with_name(f"{target.name}{MANIFEST}")
        with FileSet(last=manifest, force=force, never=never) as files:

            def look(stored: Path | Stored, options: Mapping[str, Any]) -> None:
                check(verify(stored, self.table, self.original, self.asked, options))
                names.extend(self._write_documents(files, target, manifest, _named(stored, self.table)))

            saved = write(
                self.table, path, force=force, separator=separator, progress=progress, check_written=look, files=files
            )
        return saved, *names

    def _write_documents(self, files: FileSet, target: Path, manifest: Path, named: Mapping[str, Any]) -> list[Path]:
        """Write the manifests and the owner's files; the public manifest is the last file."""
        owner = files.folder(owner_folder(target), private=True)
        public = published(self.table, self.policy, figures(self.policy, self.suppressed, self.given))
        kept = Origins(self.records, self.drawn).document(self.given) if can_be_kept(self.given) else None
        documents = {
            "internal.json": {**self.internal, **named},
            "mapping.json": None if self.mapping is None else self.mapping.document(),
            "origins.json": None if kept is None else {**kept, **named},
        }
        texts = {name: None if document is None else written(document) for name, document in documents.items()}
        texts["draw.key"] = None if self.key is None else f"{self.key.decode()}\n"
        for name, text in texts.items():
            if text is None:
                files.remove(owner / name)
            else:
                files.add(owner / name, private=True).write_text(text, encoding="utf-8")
        files.add(manifest).write_text(written({**public, **named}), encoding="utf-8")
        return [manifest, *(owner / name for name, text in texts.items() if text is not None)]


def _place(path: str | Path | Address, beside: str | Path | None) -> Path:
    """Return the path after which what is written beside a table is named."""
    if is_address(path):
        folder = Path(beside or ".")
        folder.mkdir(parents=True, exist_ok=True)
        return folder / Address.parse(path).name
    if beside is not None:
        raise WriteError("What is written with a file is written beside it.", hint="Leave out beside.")
    target = Path(str(path))
    check_name(target)
    if target.is_dir() or not target.name:
        raise WriteError(f"'{path}' is a folder.", hint="Give the name of a file, such as release.csv.")
    return target


def _named(target: Path | Stored, table: Table) -> dict[str, str]:
    """Return the hash of a file; of what a table holds, if it is none."""
    if isinstance(target, Stored):
        return {"table_fingerprint": fingerprint(table)}
    return {"file_sha256": sha256(target)}


def check(verified: tuple[Judgement, ...]) -> tuple[Judgement, ...]:
    """Refuse a release that fails a requirement."""
    failing = [requirement for requirement in verified if not requirement.verdict.satisfied]
    if failing:
        raise ReleaseError(
            f"The written release does not meet {counted(len(failing), 'requirement')} "
            f"({failing[0].verdict.model}, {failing[0].verdict.asked}). It was not handed out.",
        )
    return verified


def verified(table: Table, original: Original, asked: tuple[tuple[str, str, Model], ...]) -> tuple[Judgement, ...]:
    """Write a table to a file that nobody else can read, read it again and judge it.

    A table that is larger than memory is judged as it is, and from its file when it is saved.
    """
    if not isinstance(table.engine, MemoryEngine):
        return check(judged(as_written(table), table, original, asked))
    judgements: list[tuple[Judgement, ...]] = []
    with scratch_folder() as folder:
        write(
            table,
            folder / "release.parquet",
            check_written=lambda file, options: judgements.append(verify(file, table, original, asked, options)),
        )
    return check(judgements[0])
