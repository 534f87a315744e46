"""A project: the data, the policy and the results so far. It outlives the browser session and the server."""

import hashlib
import json
import secrets
import shutil
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Any, BinaryIO

from shoal import toml
from shoal.dataset.dataset import Dataset, is_several
from shoal.errors import PolicyError, ReadError, WriteError
from shoal.fileset import replacing
from shoal.policy.policy import Policy
from shoal.progress import Hook, Progress
from shoal.remedy import Option, by
from shoal.scratch import make_folder
from shoal.table.reading import read
from shoal.table.table import Table
from shoal.web.jobs import Job, Jobs, State, Tell

EMPTY = "version = 1\n"
_STATE, _POLICY, _UPLOADS = "project.json", "policy.toml", "uploads"
_LONGEST = 120  # maximum length of the name of an upload
_PATIENCE = 20.0  # seconds that jobs have to stop when a project is closed


class Basis(Enum):
    """Inputs on which a result depends. The result is out of date when they change."""

    FILE = auto()  # the data and the import settings
    REQUIRED = auto()  # the policy without the search settings
    FRONTIER = auto()  # the policy without k-anonymity and the suppression limit
    POLICY = auto()  # the whole policy, with the search settings


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """Snapshot of the data and the policy at the time of a request. Jobs use this snapshot, whatever changes later."""

    project: "Project"
    source: Path | None
    policy: Policy

    def raw(self, progress: Hook) -> Table:
        """Return the table as imported."""
        source = self.source
        if source is None:
            raise ReadError("no-data", "No data are loaded.", remedy="Load a file first.")
        options = self.policy.data.read.model_dump(exclude_unset=True)
        table: Table = self.project.kept_table(
            self.key(Basis.FILE), lambda: read(source, progress=progress, **options), progress
        )
        return table

    @property
    def several(self) -> bool:
        """Whether the data are several linked tables."""
        return self.source is not None and (bool(self.policy.tables) or self.project.has_several(self.source))

    def dataset(self, progress: Hook) -> Dataset:
        """Return the tables of a dataset, with the policy if it describes them."""
        policy = self.policy if self.policy.tables else None
        key = self.key(Basis.FILE) if policy is None else self.key(Basis.POLICY)
        dataset: Dataset = self.project.kept_table(
            key, lambda: Dataset.read(self.source, policy, progress=progress), progress
        )
        return dataset

    def table(self, progress: Hook) -> Table:
        """Return the table with the roles declared in the policy."""
        table = self.raw(progress)
        try:
            return self.policy.apply(table)
        except PolicyError as error:
            raise PolicyError(error.code, error.template, remedy="Identify the columns again.", **error.facts) from None

    def key(self, basis: Basis) -> Hashable:
        """Return a key of the inputs of a result: the data, the relevant part of the policy, and the files it names."""
        document = self.policy.document()
        if basis is Basis.FILE:
            document = document.get("data", {}).get("read", {})
        elif basis is Basis.REQUIRED:
            document.pop("search", None)
        elif basis is Basis.FRONTIER:
            document["require"] = [
                requirement for requirement in document.get("require", []) if requirement.get("model") != "k-anonymity"
            ]
            document["search"] = {
                name: value for name, value in document.get("search", {}).items() if name != "suppression"
            }
        named = [_state(self.policy.beside(name)) for name in files_of(document)]
        text = toml.document({name: value for name, value in document.items() if value not in ({}, [])})
        return _state(self.source), *named, hashlib.sha256(text.encode()).hexdigest()

    def begin(  # noqa: PLR0913 - keyword-only options
        self,
        name: str,
        work: Callable[["Moment", Hook], Any],
        tell: Tell | None = None,
        *,
        basis: Basis = Basis.POLICY,
        more: Hashable = None,
        anew: bool = False,
    ) -> Job:
        """Start a job on this snapshot, or return the existing job. ``more``: further inputs of the result."""
        return self.project.jobs.start(name, (self.key(basis), more), lambda hook: work(self, hook), tell, anew=anew)

    def again(self, name: str, work: Callable[["Moment", Hook], Any], tell: Tell | None = None) -> Job:
        """Start a job again, discarding any earlier result."""
        before = self.job(name)
        if before is not None:
            self.project.jobs.forget(before)
        return self.begin(name, work, tell)

    def job(self, name: str, basis: Basis = Basis.POLICY, more: Hashable = None) -> Job | None:
        """Return a job on these inputs, if it was started."""
        return self.project.jobs.find(name, (self.key(basis), more))

    def result(self, name: str, basis: Basis = Basis.POLICY, more: Hashable = None) -> Any:
        """Return the result of a job on these inputs, or None if it is not done."""
        job = self.job(name, basis, more)
        return None if job is None or job.state is not State.DONE else job.result


@dataclass(eq=False)
class Project:
    """A folder that only its owner can read. ``temporary``: the folder is removed when the server stops."""

    folder: Path
    temporary: bool
    jobs: Jobs = field(default_factory=Jobs)
    _source: Path | None = None
    _policy: Policy = field(default_factory=lambda: Policy.parse(EMPTY))
    _held: tuple[Hashable, Any] | None = None
    _several: tuple[Hashable, bool] | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    _reading: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, folder: Path | None = None, data: Path | None = None, policy: Path | None = None) -> "Project":
        """Open or create a project. The data and the policy given here replace those stored in the folder."""
        if data is not None and not data.exists():
            raise ReadError("no-file", "There is no file '{path}'.", path=data)
        given = None if policy is None else Policy.load(policy.resolve())
        home = make_folder() if folder is None else _home(folder.resolve())
        project = cls(home, folder is None)
        try:
            project._policy = project._policy.within(home)
            project._load()
            if data is not None:
                project.use(data.resolve())
            if given is not None:
                project.decide(given)
        except BaseException:
            project.close()
            raise
        return project

    def _load(self) -> None:
        """Restore the state stored in the folder."""
        state = self.folder / _STATE
        if not state.exists():
            return
        try:
            state_document = json.loads(state.read_text(encoding="utf-8"))
            self._source = None if state_document["source"] is None else Path(state_document["source"])
            beside = Path(state_document["beside"])
        except (ValueError, KeyError, TypeError):
            raise ReadError(
                "not-a-project",
                "'{path}' is not a project of shoal.",
                remedy=by("Give another folder", Option("project")),
                path=state,
            ) from None
        self._policy = Policy.load(self.folder / _POLICY).within(beside)

    @property
    def now(self) -> Moment:
        """Snapshot of the current data and policy."""
        with self.lock:
            return Moment(self, self._source, self._policy)

    def use(self, path: Path) -> None:
        """Switch to another file. The import settings of the previous file are dropped."""
        with self.lock:
            if path != self._source:
                document = self._policy.document()
                data = {name: part for name, part in document.get("data", {}).items() if name != "read"}
                self._save(path, Policy.parse(_text({**document, "data": data})).within(self._policy.beside("")))

    def decide(self, policy: Policy) -> None:
        """Replace the policy. It is written to disk before it takes effect."""
        with self.lock:
            self._save(self._source, policy)

    def edit(self, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
        """Change parts of the policy. An invalid change raises an error and leaves the policy unchanged.

        ``change`` receives the policy as plain data and returns the parts that differ; None removes a part.
        """
        with self.lock:
            document = self._policy.document()
            self.rewrite(_text({**document, **change(document)}))

    def rewrite(self, text: str) -> None:
        """Replace the policy by a text entered in the browser."""
        with self.lock:
            policy = Policy.parse(text).within(self._policy.beside(""))
            for name in files_of(policy.document()):
                self.check_file(name)
            self._save(self._source, policy)

    def check_file(self, name: str) -> None:
        """Refuse a file unless it is beside the policy, in the project folder, or already named by the policy."""
        with self.lock:
            policy = self._policy
            known = [policy.beside("").resolve(), self.folder.resolve()]
            if name in files_of(policy.document()):
                return
        try:
            path = policy.beside(name).resolve()
        except (OSError, ValueError):
            raise PolicyError("bad-path", "The policy names a file with an invalid path.") from None
        if not any(path.is_relative_to(folder) for folder in known):
            raise PolicyError(
                "file-not-beside",
                "The policy names a file outside its folder.",
                remedy="Upload the file, or start shoal serve with a policy that names it.",
            )

    def _save(self, source: Path | None, policy: Policy) -> None:
        """Write the policy and the path of the data to disk, then apply them."""
        with replacing(self.folder / _POLICY, force=True) as beside:
            beside.write_text(toml.document(policy.document()), encoding="utf-8")
        state = {"source": None if source is None else str(source), "beside": str(policy.beside("").resolve())}
        with replacing(self.folder / _STATE, force=True) as beside:
            beside.write_text(json.dumps(state, indent=1), encoding="utf-8")
        self._source, self._policy = source, policy

    def has_several(self, source: Path) -> bool:
        """Return whether a folder contains several tables; the answer is kept until the folder changes."""
        if not source.is_dir():
            return False
        if self._several is None or self._several[0] != _state(source):
            self._several = _state(source), is_several(source)
        return self._several[1]

    def kept_table(self, key: Hashable, make: Callable[[], Any], progress: Hook) -> Any:
        """Return the data, reading them if necessary. Concurrent calls wait, and can be cancelled while waiting."""
        while not self._reading.acquire(timeout=0.2):
            progress(Progress("waiting for the file", 0))
        try:
            if self._held is None or self._held[0] != key:
                self._held = None  # release the old table before the new one is read
                self._held = key, make()
            return self._held[1]
        finally:
            self._reading.release()

    def uploaded(self, name: str, content: BinaryIO, check: Callable[[Path], None]) -> Path:
        """Store an upload in the project.

        It keeps its base name, sanitised, in a folder named after the hash of its content.
        """
        plain = "".join(sign if sign.isalnum() or sign in "._-" else "_" for sign in Path(name).name).lstrip(".")
        if not plain:
            raise WriteError("no-name", "The file has no name.")
        plain = plain if "." in plain else f"data.{plain}"  # the name consisted of a suffix only
        folder = self.folder / _UPLOADS
        folder.mkdir(mode=0o700, exist_ok=True)
        beside = folder / f"{secrets.token_hex(8)}.partial"
        try:
            digest = hashlib.sha256()
            with beside.open("xb") as file:
                while part := content.read(1 << 20):
                    digest.update(part)
                    file.write(part)
            check(beside)
            target = folder / digest.hexdigest()[:16] / plain[-_LONGEST:]
            target.parent.mkdir(mode=0o700, exist_ok=True)
            if not target.exists():
                beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
        return target

    def close(self) -> None:
        """Cancel all jobs, and remove the folder of a temporary project."""
        self.jobs.close(_PATIENCE)
        if self.temporary:
            shutil.rmtree(self.folder, ignore_errors=True)
            if self.folder.exists():
                raise WriteError(
                    "not-removed",
                    "'{path}' could not be removed.",
                    remedy="It contains data: remove it manually.",
                    path=self.folder,
                )


def _home(folder: Path) -> Path:
    """Create the folder of a project, or reuse an existing one. A folder used for something else is refused."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (folder / _STATE).exists() and any(folder.iterdir()):
            raise WriteError(
                "folder-in-use",
                "'{path}' is not an empty folder.",
                remedy="Give an empty folder, or a new one.",
                path=folder,
            )
        folder.chmod(0o700)
    except OSError as error:
        raise WriteError(
            "not-a-project", "'{path}' cannot be a project: {reason}.", path=folder, reason=error.strerror
        ) from None
    return folder


def _text(document: Mapping[str, Any]) -> str:
    return toml.document({name: part for name, part in document.items() if part not in (None, {}, [])})


def _state(path: Path | None) -> Hashable:
    """Return a path with the time and size of its file, or of the files in its folder, to detect changes."""
    try:
        if path is not None and path.is_dir():
            return path, tuple(_state(inside) for inside in sorted(path.iterdir()))
        stat = None if path is None else path.stat()
    except (OSError, ValueError):
        stat = None
    return path, None if stat is None else (stat.st_mtime_ns, stat.st_size)


def files_of(value: Any) -> Iterator[str]:
    """Yield the file names contained in a document."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name in {"file", "key_file"} and isinstance(part, str):
                yield part
            else:
                yield from files_of(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from files_of(part)
