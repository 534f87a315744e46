"""Atomic replacement of files and of sets of files.

Each file is written under a hidden name in its target folder and renamed after it is complete. In a set, the manifest
is renamed last and holds the hash of every file. A plan file records the renames in progress: after a crash, the next
run completes a set that has a plan and removes incomplete files that have none. Inputs are never overwritten.
"""

import errno
import glob
import hashlib
import json
import os
import secrets
import shutil
import signal
import socket
import threading
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import Self

from shoal.errors import WriteError
from shoal.remedy import Option, either
from shoal.words import counted

MANIFEST = ".manifest.json"  # appended to the name of a released file
DATASET = f"dataset{MANIFEST}"  # in the folder of a release of linked tables
_LONGEST_NAME = 255  # bytes, on all usual file systems
_SHOWN = 40  # characters of the target's name that its hidden name starts with
_ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
HERE = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:4]  # identifies the machine of a process


_inputs: ContextVar[list[Path] | None] = ContextVar("inputs", default=None)


@contextmanager
def protecting_inputs() -> Iterator[None]:
    """Refuse to overwrite files that are read in the block, such as those of one command."""
    token = _inputs.set([])
    try:
        yield
    finally:
        _inputs.reset(token)


def note_inputs(files: Iterable[Path]) -> None:
    """Record files that were read, if inputs are protected."""
    noted = _inputs.get()
    if noted is not None:
        noted.extend(files)


class Leftover(UserWarning):
    """Files of an interrupted process were completed or removed."""


def owner_folder(target: Path) -> Path:
    """Return the folder beside a release that holds the files its owner keeps.

    >>> owner_folder(Path("out/release.csv")).name
    'release.csv.owner-only'
    """
    return target.with_name(f"{target.name}.owner-only")


def check_name(path: Path) -> None:
    """Refuse a file name that is too long for file systems."""
    size = len(os.fsencode(path.name))
    if size > _LONGEST_NAME:
        raise WriteError(
            "name-too-long",
            "The file name '{start}…{end}' is too long: {size:byte}.",
            remedy="Choose a shorter name: file systems allow {longest} bytes.",
            start=path.name[:20],
            end=path.name[-20:],
            size=size,
            longest=_LONGEST_NAME,
        )


@contextmanager
def replacing(
    target: Path, *, force: bool = False, never: Collection[Path] = (), private: bool = False
) -> Iterator[Path]:
    """Provide a temporary path in the target folder, renamed to the target if the block succeeds.

    Readers see the old file or the complete new one. After an error, no temporary file remains. ``never``: inputs,
    which are not overwritten even with ``force``. ``private``: only the owner may read the file.
    """
    with FileSet(force=force, never=never) as files:
        yield files.add(target, private=private)


class FileSet:
    """Files that are renamed together, in the order in which they were added, or not at all.

    ``last``: the file that is renamed last; an interrupted earlier write of the set is found by its name.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with FileSet() as files:
    ...     for name in ("table.csv", "table.csv.manifest.json"):
    ...         _ = files.add(Path(folder.name) / name).write_text(name)
    >>> sorted(path.name for path in Path(folder.name).iterdir())
    ['table.csv', 'table.csv.manifest.json']
    >>> folder.cleanup()
    """

    def __init__(self, *, last: Path | None = None, force: bool = False, never: Collection[Path] = ()) -> None:
        self._last, self._force, self._never = last, force, never
        self._files: dict[Path, Path] = {}
        self._private: set[Path] = set()
        self._folders: list[Path] = []
        self._gone: list[Path] = []
        self._planned = False

    def __enter__(self) -> Self:
        if self._last is not None:
            _complete(self._last)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._appear()
        except OSError as failure:
            error = failure
        finally:
            if not self._planned:  # otherwise the next run completes the set
                self._tidy_up()
        if isinstance(error, OSError):
            raise _cannot_write(next(iter(self._files), Path()), error) from None

    def add(self, target: Path, *, private: bool = False) -> Path:
        """Return the temporary path to write. ``private``: only the owner may read the file."""
        check_name(target)
        target = target.resolve() if target.is_symlink() and not private else target
        check_place(target, force=self._force)
        check_no_input(target, (*self._never, *(_inputs.get() or ())))
        _remove_leftovers(target)
        process = f"{os.getpid()}-{HERE}-{secrets.token_hex(4)}"
        beside = target.with_name(f"{_hidden(target)}.{process}.partial")
        self._files[target] = beside
        if private:
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL, 0o600))
            self._private.add(target)
        return beside

    def folder(self, path: Path, *, private: bool = False) -> Path:
        """Make a folder for some of the files; a new folder is removed if the set fails."""
        check_name(path)
        if path.exists() and not path.is_dir():
            raise WriteError(
                "not-a-folder", "'{path}' is a file, not a folder.", remedy="Give another name.", path=path
            )
        if not path.absolute().parent.is_dir():
            raise _no_folder(path.parent)
        if private and path.is_symlink():
            raise WriteError(
                "link",
                "'{path}' is a link. The owner's files must be written to a folder.",
                remedy="Remove the link.",
                path=path,
            )
        if not path.exists():
            self._folders.append(path)
            path.mkdir(mode=0o700 if private else 0o777)
        elif private:
            _make_private(path)
        return path

    def remove(self, target: Path) -> None:
        """Delete an existing file when the set is renamed."""
        if target.exists() and not self._force:
            raise _is_there(target)
        check_no_input(target, (*self._never, *(_inputs.get() or ())))
        self._gone.append(target)

    def _tidy_up(self) -> None:
        """Remove temporary files and new empty folders."""
        for beside in self._files.values():
            beside.unlink(missing_ok=True)
        for folder in reversed(self._folders):
            with suppress(OSError):
                folder.rmdir()  # fails unless it is empty

    def _appear(self) -> None:
        """Flush and rename all files; signals that end the process are deferred meanwhile."""
        for target, beside in self._files.items():
            with beside.open("rb+") as file:
                os.fsync(file.fileno())
            if target.exists() and target not in self._private:
                shutil.copymode(target, beside)  # the new file must not be readable by more users than the old one
        with uninterrupted():
            if len(self._files) + len(self._gone) == 1:
                for target, beside in self._files.items():
                    beside.replace(target)
            elif self._files:
                plan = plan_of(list(self._files)[-1])
                _write_plan(plan, self._files, self._gone)
                self._planned = True
                _carry_out(plan)


def _make_private(folder: Path) -> None:
    """Let only its owner read an existing folder; refuse one that belongs to another user."""
    try:
        folder.chmod(0o700)
    except PermissionError:
        raise WriteError(
            "not-yours",
            "The folder '{path}' belongs to another user.",
            remedy="Choose another output path.",
            path=folder,
        ) from None


def _hidden(target: Path) -> str:
    """Return the common start of the hidden names for a target; the hash distinguishes long names."""
    return f".{target.name[:_SHOWN]}.{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]}"


def plan_of(last: Path) -> Path:
    """Return the plan file of the set whose last file is given."""
    return last.with_name(f"{_hidden(last)}.plan")


def _write_plan(plan: Path, files: Mapping[Path, Path], gone: Collection[Path]) -> None:
    """Record the renames and deletions, with paths relative to the plan's folder."""

    def relative(path: Path) -> str:
        return os.path.relpath(path.absolute(), plan.absolute().parent)

    steps = {
        "process": os.getpid(),
        "host": HERE,
        "rename": [(relative(beside), relative(target)) for target, beside in files.items()],
        "remove": [relative(path) for path in gone],
    }
    try:
        with os.fdopen(os.open(plan, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(json.dumps(steps))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        plan.unlink(missing_ok=True)
        raise


def _carry_out(plan: Path) -> None:
    """Carry out a plan, or the rest of it, and delete the plan."""
    steps, folder = json.loads(plan.read_text(encoding="utf-8")), plan.parent
    for beside, target in steps["rename"]:
        with suppress(FileNotFoundError):  # renamed before the interruption
            (folder / beside).replace(folder / target)
    for path in steps["remove"]:
        (folder / path).unlink(missing_ok=True)
    plan.unlink(missing_ok=True)


def _complete(last: Path) -> None:
    """Complete the set of an interrupted process; refuse a set that a running process is renaming."""
    plan = plan_of(last)
    try:
        steps = json.loads(plan.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except ValueError:  # interrupted while the plan was written: nothing was renamed
        plan.unlink(missing_ok=True)
        return
    if steps["host"] == HERE and steps["process"] != os.getpid() and is_alive(steps["process"]):
        raise WriteError(
            "being-written",
            "'{path}' is being written by another process.",
            remedy="Wait until it has finished.",
            path=last,
        )
    _carry_out(plan)
    warnings.warn(f"Completed the interrupted write of '{last.name}'.", Leftover, stacklevel=3)


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files of interrupted processes for this target, with a warning."""
    left = [
        path
        for path in target.parent.glob(f"{glob.escape(_hidden(target))}.*-{HERE}-*.partial")
        if not is_alive(path.name.split(".")[-2].partition("-")[0])
    ]
    for path in left:
        path.unlink(missing_ok=True)
    if left:
        removed = f"Removed {counted(len(left), 'incomplete file')} of an interrupted process from '{target.parent}'."
        warnings.warn(removed, Leftover, stacklevel=3)


def is_alive(process: int | str) -> bool:
    """Return whether a process of this machine is running; True if that cannot be determined."""
    if not str(process).isdigit() or int(process) == os.getpid():
        return True
    if os.name == "nt":  # pragma: no cover - os.kill would end the process
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Defer signals that end the process until the block has finished."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signal handlers run in the main thread only
        return
    came: list[int] = []
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in _ENDS}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, signal.SIG_DFL if handler is None else handler)
        for number in came[:1]:
            os.kill(os.getpid(), number)


def check_place(target: Path, *, force: bool) -> None:
    """Refuse a place to which no file can be written, or whose file may not be replaced."""
    if target.is_dir():
        raise WriteError("is-a-folder", "'{path}' is a folder.", path=target)
    if target.exists() and not target.is_file():
        raise WriteError("not-a-file", "'{path}' is not an ordinary file.", path=target)
    if target.exists() and not force:
        raise _is_there(target)
    if not target.parent.is_dir():
        raise _no_folder(target.parent)


def _no_folder(path: Path) -> WriteError:
    return WriteError(
        "no-folder",
        "There is no folder '{path}' to write to.",
        remedy="Make the folder, or give another path.",
        path=path,
    )


def _is_there(target: Path) -> WriteError:
    return WriteError(
        "file-exists",
        "'{path}' already exists.",
        remedy=either("Give another name", Option("force", True)),
        path=target,
    )


def check_no_input(target: Path, inputs: Collection[Path]) -> None:
    """Refuse to overwrite an input, under any spelling of its path and through any link."""
    if target.exists() and any(path.exists() and path.samefile(target) for path in inputs):
        raise WriteError(
            "overwrites-input",
            "'{path}' is an input (data, policy, hierarchy, register or key). Inputs are never overwritten.",
            remedy="Choose another output path.",
            path=target,
        )


def _cannot_write(target: Path, error: OSError) -> WriteError:
    """Return the error for a failed write; a full disk is named as such, also if the library does not report it."""
    full = error.errno in {errno.ENOSPC, errno.EDQUOT} or "space left on device" in str(error).lower()
    if full or (error.errno is None and is_full(target.parent)):
        return WriteError(
            "disk-full",
            "'{path}' cannot be written: the disk is full.",
            remedy="No file was changed. Free disk space, or write to another disk.",
            path=target,
        )
    remedy = f"File systems allow names of {_LONGEST_NAME} bytes." if error.errno == errno.ENAMETOOLONG else None
    return WriteError(
        "cannot-write",
        "'{path}' cannot be written: {reason}.",
        remedy=remedy,
        path=target,
        reason=error.strerror or "the system refused",
    )


def is_full(folder: Path) -> bool:
    """Return whether less than 64 KiB are free on the disk of a folder."""
    return shutil.disk_usage(folder if folder.is_dir() else folder.parent).free < 1 << 16


def sha256(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
