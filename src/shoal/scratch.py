"""Private temporary folders, removed at the end of their process or by the next run after a crash."""

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from shoal.fileset import HERE, Leftover, is_alive
from shoal.words import counted

_PREFIX = "shoal"


def make_folder() -> Path:
    """Make a folder that only its owner can read; the caller removes it."""
    remove_leftovers(tempfile.gettempdir())
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}-{os.getpid()}-{HERE}-"))


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Provide a folder that only its owner can read, removed after the block.

    >>> with scratch_folder() as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """
    folder = make_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def remove_leftovers(place: str) -> None:
    """Remove folders of processes that no longer run, with a warning, since they may hold data; once per process."""
    left = [
        path
        for path in Path(place).glob(f"{_PREFIX}-*-{HERE}-*")
        if not is_alive(path.name.split("-")[1]) and path.is_dir() and not path.is_symlink() and _is_ours(path)
    ]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    if left:
        warnings.warn(
            f"Removed {counted(len(left), 'temporary folder')} of interrupted processes.", Leftover, stacklevel=2
        )


def _is_ours(path: Path) -> bool:
    return os.name == "nt" or path.stat().st_uid == os.getuid()
