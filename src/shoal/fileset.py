"""Files that appear whole, alone or as a set, and never in the place of what they were made of.

Files are written beside their places under hidden names and renamed when all is well. Of a set, the manifest is renamed
last, and names the hash of every file. What a process leaves behind that was ended by force is found by the next run: a
set whose renaming had begun is completed, all else is removed.
"""

import errno
import hashlib
import json
import os
import secrets
import shutil
import signal
import socket
import threading
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from shoal.errors import ReadError, WriteError, counted, listed

MANIFEST = ".manifest.json"  # after the name of a released file
DATASET = f"dataset{MANIFEST}"  # in the folder of released tables that belong together
_LONGEST_NAME = 255  # bytes, on all usual file systems
_SHOWN = 40  # characters of a name that a hidden one begins with
_ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
HERE = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:4]  # which machine a process is of


class Leftover(UserWarning):
    """A process that was ended by force had left something behind."""


def owner_folder(target: Path) -> Path:
    """Return the folder beside a release for what stays with its owner.

    >>> owner_folder(Path("out/release.csv")).name
    'release.csv.owner-only'
    """
    return target.with_name(f"{target.name}.owner-only")


def check_name(path: Path) -> None:
    """Refuse a name that no file can have."""
    size = len(os.fsencode(path.name))
    if size > _LONGEST_NAME:
        raise WriteError(
            f"The file name '{path.name[:20]}…{path.name[-20:]}' is too long: {size} bytes.",
            hint=f"Choose a shorter name: file systems take {_LONGEST_NAME} bytes.",
        )


@contextmanager
def replacing(target: Path, *, force: bool = False, never: Collection[Path] = ()) -> Iterator[Path]:
    """Give a path beside the target to write to, and rename it to the target once all is well.

    Whoever looks at the target sees the old file or the whole new one. If anything fails, nothing is left. ``never``:
    what must not be replaced, whatever else is said.
    """
    with FileSet(force=force, never=never) as files:
        yield files.add(target)


class FileSet:
    """Files that appear together, in the order in which they were added, or not at all.

    ``last``: the file that comes last, by which a set is known that another process has left half renamed.

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
            self._tidy_up()
        if isinstance(error, OSError):
            raise _cannot_write(next(iter(self._files), Path()), error) from None

    def add(self, target: Path, *, private: bool = False) -> Path:
        """Give a path to write to. ``private``: only the owner may read the file."""
        check_name(target)
        target = target.resolve() if target.is_symlink() else target
        _check_place(target, force=self._force)
        check_no_input(target, self._never)
        _remove_leftovers(target)
        process = f"{os.getpid()}-{HERE}-{secrets.token_hex(4)}"
        beside = target.with_name(f".{target.name[:_SHOWN]}.{process}.partial")  # a name of 255 bytes has no room
        self._files[target] = beside
        if private:
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL, 0o600))
            self._private.add(target)
        return beside

    def folder(self, path: Path, *, private: bool = False) -> Path:
        """Make a folder for some of the files; a new one does not stay if they do not appear."""
        check_name(path)
        if path.exists() and not path.is_dir():
            raise WriteError(f"'{path}' is a file, not a folder.", hint="Give another name.")
        if not path.absolute().parent.is_dir():
            raise WriteError(f"There is no folder '{path.parent}' to write into.")
        if not path.exists():
            self._folders.append(path)
            path.mkdir(mode=0o700 if private else 0o777)
        return path

    def remove(self, target: Path) -> None:
        """Let a file go when the others appear, if it is there."""
        if target.exists() and not self._force:
            raise _is_there(target)
        check_no_input(target, self._never)
        self._gone.append(target)

    def _tidy_up(self) -> None:
        """Remove what has not appeared."""
        for beside in self._files.values():
            beside.unlink(missing_ok=True)
        for folder in reversed(self._folders):
            with suppress(OSError):
                folder.rmdir()  # if nothing is in it

    def _appear(self) -> None:
        """Rename all files; whoever wants to end the process meanwhile waits until all is done."""
        for target, beside in self._files.items():
            with beside.open("rb+") as file:
                os.fsync(file.fileno())
            if target.exists() and target not in self._private:
                shutil.copymode(target, beside)  # who could not read the old file cannot read the new one
        pairs = [(str(beside), str(target)) for target, beside in self._files.items()]
        with uninterrupted():
            if len(pairs) + len(self._gone) > 1:
                _rename_as_planned(pairs, [str(path) for path in self._gone])
            elif pairs:
                Path(pairs[0][0]).replace(pairs[0][1])


def _rename_as_planned(pairs: list[tuple[str, str]], gone: list[str]) -> None:
    """Write down what is to be renamed, do it, and forget it: whoever comes after a crash can go on."""
    plan = _plan_of(Path(pairs[-1][1]))
    text = json.dumps({"process": os.getpid(), "host": HERE, "rename": pairs, "remove": gone})
    with os.fdopen(os.open(plan, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    _carry_out(plan, pairs, gone)


def _carry_out(plan: Path, pairs: list[tuple[str, str]], gone: list[str]) -> None:
    for beside, target in pairs:
        with suppress(FileNotFoundError):  # it is there already
            Path(beside).replace(target)
    for path in gone:
        Path(path).unlink(missing_ok=True)
    plan.unlink(missing_ok=True)


def _plan_of(last: Path) -> Path:
    """Return where it is written down what is being renamed in a set whose last file is known."""
    return last.with_name(f".{last.name[:_SHOWN]}.plan")


def _complete(last: Path) -> None:
    """Complete a set that another process had begun to rename; refuse one that it renames now."""
    plan = _plan_of(last)
    try:
        held = json.loads(plan.read_text(encoding="utf-8"))
        process, host, pairs, gone = held["process"], held["host"], held["rename"], held["remove"]
    except FileNotFoundError:
        return
    except (ValueError, KeyError):  # ended while it was written: nothing was renamed
        plan.unlink(missing_ok=True)
        return
    if host == HERE and process != os.getpid() and is_alive(process):
        raise WriteError(f"'{last}' is being written by another process.", hint="Wait until it is done.")
    _carry_out(plan, pairs, gone)
    warnings.warn(f"Completed what an ended process had begun to write: '{last.name}'.", Leftover, stacklevel=3)


def _remove_leftovers(target: Path) -> None:
    """Remove what ended processes had written for a place, and say so."""
    left = [
        path
        for path in target.parent.glob(f".{_escaped(target.name[:_SHOWN])}.*-{HERE}-*.partial")
        if not is_alive(path.name.split(".")[-2].partition("-")[0])
    ]
    for path in left:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if left:
        told = f"Removed {counted(len(left), 'file')} that an ended process had left half written in '{target.parent}'."
        warnings.warn(told, Leftover, stacklevel=3)


def _escaped(name: str) -> str:
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)


def is_alive(process: int | str) -> bool:
    """Tell whether a process of this machine is there; of other numbers than its own, if that cannot be known."""
    if not str(process).isdigit() or int(process) == os.getpid():
        return True
    if os.name == "nt":  # pragma: no cover - there, asking would end it
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
    """Let signals that would end the process wait until something is done that must not be left half done."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python's handlers run in the main thread
        return
    came: list[int] = []
    before = {one: signal.signal(one, lambda number, _: came.append(number)) for one in _ENDS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, signal.SIG_DFL if handler is None else handler)
        for number in came[:1]:
            os.kill(os.getpid(), number)


def _check_place(target: Path, *, force: bool) -> None:
    if target.is_dir():
        raise WriteError(f"'{target}' is a folder.")
    if target.exists() and not target.is_file():
        raise WriteError(f"'{target}' is no ordinary file.")
    if target.exists() and not force:
        raise _is_there(target)
    if not target.parent.is_dir():
        raise WriteError(f"There is no folder '{target.parent}' to write into.")


def _is_there(target: Path) -> WriteError:
    return WriteError(f"'{target}' is already there.", hint="Give another name, or say force=True (--force).")


def check_no_input(target: Path, inputs: Collection[Path]) -> None:
    """Refuse to replace what something is made of, however it is written: by another name, or through a link."""
    if target.exists() and any(path.exists() and path.samefile(target) for path in inputs):
        raise WriteError(
            f"'{target}' is what this is made of (data, policy, hierarchy, register or key), and is never replaced.",
            hint="Give another name.",
        )


def _cannot_write(target: Path, error: OSError) -> WriteError:
    """Say why a file cannot be written; a full disk by that name, also where a library does not tell."""
    full = error.errno in {errno.ENOSPC, errno.EDQUOT} or "space left on device" in str(error).lower()
    if full or (error.errno is None and is_full(target.parent)):
        return WriteError(
            f"'{target}' cannot be written: the disk is full.",
            hint="Nothing was changed. Make room, or write to another disk.",
        )
    return WriteError(f"'{target}' cannot be written: {error.strerror or 'the system refused'}.")


def is_full(folder: Path) -> bool:
    """Tell whether a disk has no room left that would be worth speaking of."""
    return shutil.disk_usage(folder if folder.is_dir() else folder.parent).free < 1 << 16


def sha256(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def check_whole(path: Path) -> None:
    """Refuse a released file that is not the one that its manifest names: a set of old and new files."""
    for manifest in (path.with_name(f"{path.name}{MANIFEST}"), path.with_name(DATASET)):
        if _plan_of(manifest).exists():
            raise _mixed(path, manifest)
        named = _named_by(manifest, path.name)
        if named is not None and named != sha256(path):
            raise _mixed(path, manifest)


def _named_by(manifest: Path, name: str) -> Any:
    """Return the hash that a manifest names for a file: that of a dataset has several."""
    try:
        held = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    files = held.get("files") if isinstance(held, dict) else None
    return files.get(name) if isinstance(files, dict) else held.get("file_sha256") if isinstance(held, dict) else None


def _mixed(path: Path, manifest: Path) -> ReadError:
    return ReadError(
        f"'{path.name}' is not the file that {listed([manifest.name])} beside it describes: it was changed later, or a "
        "release was ended while it was written.",
        hint=f"Write the release again. If the file is meant to be as it is, remove '{manifest.name}'.",
    )
