"""A project: the data, the policy, and what was found out about them; it outlives the browser, and the server."""

import hashlib
import json
import shutil
import tempfile
import threading
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal import toml
from shoal.errors import PolicyError, ReadError, WriteError
from shoal.policy.policy import Policy
from shoal.progress import Hook
from shoal.table.reading import read
from shoal.table.table import Table
from shoal.table.writing import replacing
from shoal.web.jobs import Job, Jobs, Work

EMPTY = "version = 1\n"
_STATE, _POLICY, _UPLOADS = "project.json", "policy.toml", "uploads"


@dataclass(frozen=True, slots=True)
class Source:
    """The file that is worked on, and how it is read."""

    path: Path
    options: Mapping[str, Any]

    @property
    def key(self) -> Hashable:
        """What is read: it changes if the file does."""
        told = self.path.stat() if self.path.exists() else None
        when = None if told is None else (told.st_mtime_ns, told.st_size)
        return str(self.path), json.dumps(dict(self.options), sort_keys=True), when


@dataclass(eq=False)
class Project:
    """A folder that only its owner can read. ``temporary``: it goes when the server does."""

    folder: Path
    temporary: bool
    jobs: Jobs = field(default_factory=Jobs)
    _source: Source | None = None
    _policy: Policy = field(default_factory=lambda: Policy.parse(EMPTY))
    _held: tuple[Hashable, Table] | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def open(cls, folder: Path | None = None, data: Path | None = None, policy: Path | None = None) -> "Project":
        """Open a project, or begin one; what is given goes before what is there."""
        temporary = folder is None
        home = Path(tempfile.mkdtemp(prefix="shoal-")) if folder is None else folder
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        project = cls(home, temporary)
        project._load()
        if data is not None:
            project.use(data.resolve(), {})
        if policy is not None:
            project.save_policy(Policy.load(policy))
        return project

    def _load(self) -> None:
        if (self.folder / _POLICY).exists():
            self._policy = Policy.load(self.folder / _POLICY)
        state = self.folder / _STATE
        if not state.exists():
            return
        try:
            held = json.loads(state.read_text(encoding="utf-8"))
            self._source = None if held["source"] is None else Source(Path(held["source"]), held["options"])
        except (ValueError, KeyError, TypeError):
            raise ReadError(
                f"'{state}' is no project of shoal.", hint="Give another folder: --project FOLDER."
            ) from None

    @property
    def source(self) -> Source | None:
        """The file that is worked on."""
        with self._lock:
            return self._source

    @property
    def policy(self) -> Policy:
        """What is decided so far."""
        with self._lock:
            return self._policy

    def use(self, path: Path, options: Mapping[str, Any]) -> None:
        """Work on a file from now on."""
        with self._lock:
            self._source, self._held = Source(path, dict(options)), None
            with replacing(self.folder / _STATE, force=True) as beside:
                held = {"source": str(path), "options": dict(options)}
                beside.write_text(json.dumps(held, indent=1), encoding="utf-8")

    def save_policy(self, policy: Policy) -> None:
        """Decide; what was decided is on the disk before anybody is told."""
        text = toml.document(policy.document())
        with self._lock:
            with replacing(self.folder / _POLICY, force=True) as beside:
                beside.write_text(text, encoding="utf-8")
            self._policy = policy

    def change(self, changes: Mapping[str, Any]) -> None:
        """Change parts of the policy; None takes a part away. What is not valid changes nothing."""
        held = {**self.policy.document(), **changes}
        told = toml.document({name: part for name, part in held.items() if part not in (None, {}, [])})
        policy = Policy.parse(told)
        policy._folder = self.policy.beside("")  # noqa: SLF001 - files that it names stay where they are
        self.save_policy(policy)

    def table(self, progress: Hook) -> Table:
        """Read the file, if that was not done, and give its columns the roles that are decided."""
        source = self.source
        if source is None:
            raise ReadError("There are no data yet.", hint="Load a file first.")
        with self._lock:
            held = self._held
        if held is None or held[0] != source.key:
            table = read(source.path, progress=progress, **source.options)
            with self._lock:
                held = self._held = (source.key, table)
        policy = self.policy
        known = {*policy.columns, policy.data.subject, policy.data.household, policy.data.weight} - {None}
        if not known <= set(held[1].names):
            raise PolicyError(
                "The policy is about other columns than the file has.", hint="Identify the columns again."
            )
        return policy.apply(held[1]) if known else held[1]

    def key(self, *, policy: bool) -> Hashable:
        """Return what results hang on: the data, and what was decided about them."""
        source = self.source
        told = toml.document(self.policy.document()) if policy else ""
        return (None if source is None else source.key), hashlib.sha256(told.encode()).hexdigest()

    def begin(self, name: str, work: Work, *, policy: bool = True, more: Hashable = None) -> Job:
        """Begin work on the data as they are now, or return what has come of it."""
        return self.jobs.start(name, (self.key(policy=policy), more), work)

    def found(self, name: str, *, policy: bool = True, more: Hashable = None) -> Job | None:
        """Return what has come of some work, if it was begun."""
        return self.jobs.find(name, (self.key(policy=policy), more))

    def uploaded(self, name: str) -> Path:
        """Return where an upload goes: into the project, under its own last name and no other."""
        plain = "".join(sign if sign.isalnum() or sign in "._-" else "_" for sign in Path(name).name).lstrip(".")
        if not plain:
            raise WriteError("The file has no name.")
        folder = self.folder / _UPLOADS
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / plain

    def close(self) -> None:
        """Stop all work; a temporary project goes."""
        self.jobs.close()
        if self.temporary:
            shutil.rmtree(self.folder, ignore_errors=True)
