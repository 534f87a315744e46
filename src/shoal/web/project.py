"""A project: the data, the policy, and what was found out about them; it outlives the browser, and the server."""

import hashlib
import json
import shutil
import tempfile
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Any

from shoal import toml
from shoal.errors import PolicyError, ReadError, WriteError
from shoal.policy.policy import Policy
from shoal.progress import Hook
from shoal.table.reading import read
from shoal.table.table import Table
from shoal.table.writing import replacing
from shoal.web.jobs import Job, Jobs, State, Tell

EMPTY = "version = 1\n"
_STATE, _POLICY, _UPLOADS = "project.json", "policy.toml", "uploads"


class Basis(Enum):
    """What a result hangs on: if that changes, it is out of date."""

    FILE = auto()  # the data, and how they are read
    REQUIRED = auto()  # these, and what is decided and required
    POLICY = auto()  # all of that, and how the release is searched for


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """The data and the policy as they were when something was begun."""

    project: "Project"
    source: Path | None
    policy: Policy

    def raw(self, progress: Hook) -> Table:
        """Return the table as it is read."""
        if self.source is None:
            raise ReadError("There are no data yet.", hint="Load a file first.")
        options = self.policy.data.read.model_dump(exclude_unset=True)
        return self.project.read(self.key(Basis.FILE), lambda: read(self.source, progress=progress, **options))

    def table(self, progress: Hook) -> Table:
        """Return the table with the roles that are decided."""
        table, policy = self.raw(progress), self.policy
        known = {*policy.columns, policy.data.subject, policy.data.household, policy.data.weight} - {None}
        if not known <= set(table.names):
            raise PolicyError(
                "The policy is about other columns than the file has.", hint="Identify the columns again."
            )
        return policy.apply(table) if known else table

    def key(self, basis: Basis) -> Hashable:
        """Return what results hang on: the data, and what is decided about them."""
        told = self.policy.document()
        if basis is Basis.FILE:
            told = told.get("data", {}).get("read", {})
        elif basis is Basis.REQUIRED:
            told.pop("search", None)
        return self._file(), hashlib.sha256(toml.document(told).encode()).hexdigest()

    def _file(self) -> Hashable:
        """Return which file it is, and when it was written."""
        if self.source is None or not self.source.exists():
            return self.source
        state = self.source.stat()
        return self.source, state.st_mtime_ns, state.st_size


@dataclass(eq=False)
class Project:
    """A folder that only its owner can read. ``temporary``: it goes when the server does."""

    folder: Path
    temporary: bool
    jobs: Jobs = field(default_factory=Jobs)
    _source: Path | None = None
    _policy: Policy = field(default_factory=lambda: Policy.parse(EMPTY))
    _held: tuple[Hashable, Table] | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _reading: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, folder: Path | None = None, data: Path | None = None, policy: Path | None = None) -> "Project":
        """Open a project, or begin one; what is given goes before what is there."""
        temporary = folder is None
        home = Path(tempfile.mkdtemp(prefix="shoal-")) if folder is None else folder.resolve()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        project = cls(home, temporary)
        project._policy = project._policy.within(home)
        project._load()
        if policy is not None:
            project.decide(Policy.load(policy.resolve()))
        if data is not None:
            if not data.exists():
                raise ReadError(f"There is no file '{data}'.")
            project.use(data.resolve())
        return project

    def _load(self) -> None:
        """Take up what is in the folder."""
        state = self.folder / _STATE
        if not state.exists():
            return
        try:
            held = json.loads(state.read_text(encoding="utf-8"))
            self._source = None if held["source"] is None else Path(held["source"])
            beside = Path(held["beside"])
        except (ValueError, KeyError, TypeError):
            raise ReadError(
                f"'{state}' is no project of shoal.", hint="Give another folder: --project FOLDER."
            ) from None
        self._policy = Policy.load(self.folder / _POLICY).within(beside)

    @property
    def now(self) -> Moment:
        """The data and what is decided, as they are now: work that takes a while is about these, whatever comes."""
        with self._lock:
            return Moment(self, self._source, self._policy)

    @property
    def source(self) -> Path | None:
        """The file that is worked on."""
        return self.now.source

    @property
    def policy(self) -> Policy:
        """What is decided so far."""
        return self.now.policy

    def use(self, path: Path) -> None:
        """Work on a file from now on."""
        with self._lock:
            self._source = path
            self._save()

    def decide(self, policy: Policy) -> None:
        """Take another policy; it is on the disk before anybody is told."""
        with self._lock:
            before, self._policy = self._policy, policy
            try:
                self._save()
            except BaseException:
                self._policy = before
                raise

    def change(self, changes: Mapping[str, Any]) -> None:
        """Change parts of the policy; None takes a part away. What is not valid changes nothing."""
        with self._lock:
            held = {**self._policy.document(), **changes}
            self.rewrite(toml.document({name: part for name, part in held.items() if part not in (None, {}, [])}))

    def rewrite(self, text: str) -> None:
        """Take a policy that was written in the browser; files that it names lie beside the old one, or were sent."""
        with self._lock:
            policy = Policy.parse(text).within(self._policy.beside(""))
            known = [policy.beside("").resolve(), self.folder.resolve()]
            for name in _files(policy.document()):
                path = policy.beside(name).resolve()
                if not any(path.is_relative_to(folder) for folder in known):
                    raise PolicyError(
                        "The policy names a file that is not beside it.",
                        hint="Start shoal serve with the policy: shoal serve DATA --policy FILE.",
                    )
            self.decide(policy)

    def _save(self) -> None:
        """Write down what is decided, and what it is about."""
        with replacing(self.folder / _POLICY, force=True) as beside:
            beside.write_text(toml.document(self._policy.document()), encoding="utf-8")
        source = None if self._source is None else str(self._source)
        state = {"source": source, "beside": str(self._policy.beside("").resolve())}
        with replacing(self.folder / _STATE, force=True) as beside:
            beside.write_text(json.dumps(state, indent=1), encoding="utf-8")

    def read(self, key: Hashable, make: Callable[[], Table]) -> Table:
        """Read the table, if that was not done; whoever else asks for it waits."""
        with self._reading:
            if self._held is None or self._held[0] != key:
                self._held = None  # the old one may go before the new one comes
                self._held = key, make()
            return self._held[1]

    def begin(
        self,
        name: str,
        work: Callable[[Moment, Hook], Any],
        tell: Tell | None = None,
        *,
        basis: Basis = Basis.POLICY,
        more: Hashable = None,
    ) -> Job:
        """Begin work on the data as they are now, or return what has come of it. ``more``: what else it hangs on."""
        now = self.now
        return self.jobs.start(name, (now.key(basis), more), lambda hook: work(now, hook), tell)

    def again(self, name: str, work: Callable[[Moment, Hook], Any], tell: Tell | None = None) -> Job:
        """Begin work anew, whatever has come of it before."""
        before = self.found(name)
        if before is not None:
            self.jobs.forget(before)
        return self.begin(name, work, tell)

    def found(self, name: str, basis: Basis = Basis.POLICY, more: Hashable = None) -> Job | None:
        """Return what has come of some work, if it was begun."""
        return self.jobs.find(name, (self.now.key(basis), more))

    def result(self, name: str, basis: Basis = Basis.POLICY, more: Hashable = None) -> Any:
        """Return what has come of some work, if it is done."""
        job = self.found(name, basis, more)
        return None if job is None or job.state is not State.DONE else job.result

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


def _files(held: Any) -> Iterator[str]:
    """Return the names of all files in a document."""
    if isinstance(held, Mapping):
        for name, one in held.items():
            if name in {"file", "key_file"} and isinstance(one, str):
                yield one
            else:
                yield from _files(one)
    elif isinstance(held, list | tuple):
        for one in held:
            yield from _files(one)
