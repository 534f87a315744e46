"""Files of a source: a single file, all files of a folder, or all files that match a pattern."""

import glob
from collections.abc import Iterable
from pathlib import Path

from shoal.errors import ReadError, did_you_mean
from shoal.remedy import FixedText

_PATTERN = frozenset("*?[")


def files_of(source: str | Path) -> tuple[Path, ...]:
    """Return the files of a path, a folder or a pattern such as ``2024-*.parquet``, sorted by name."""
    path = Path(source)
    if path.is_dir():
        return _in_folder(path)
    if not path.exists() and _PATTERN & set(str(path)):
        paths = tuple(Path(name) for name in sorted(glob.glob(str(path), recursive=True)))  # noqa: PTH207 - any root
        if not paths:
            raise ReadError("no-file", "No file matches the pattern {path}.", path=_shown(path))
        return _checked(file for file in paths if not file.is_dir())
    if not path.exists():
        raise ReadError("no-file", "There is no file {path}.", remedy=_similar(path), path=_shown(path))
    return _checked([path])


def _shown(path: Path) -> str:
    """Return a path for a message. A path that may be an address with a password is withheld."""
    text = str(path)
    return f"'{text}'" if "@" not in text else "of that name; an address looks like postgresql://user@host/database"


def _in_folder(folder: Path) -> tuple[Path, ...]:
    """Return the files of a folder, except hidden files and marker files, whose names begin with ``.`` or ``_``."""
    inside = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    deeper = next((path for path in inside if path.is_dir()), None)
    if deeper is not None:
        raise ReadError(
            "nested-folders",
            "The folder '{folder}' contains folders ('{inner}').",
            remedy="Give the files by a pattern, such as 'folder/**/*.parquet'. Partition folders such as year=2024 do "
            "not become columns.",
            folder=folder.resolve().name,
            inner=deeper.name,
        )
    if not inside:
        raise ReadError("no-file", "The folder '{folder}' contains no files.", folder=folder.resolve().name)
    return _checked(inside)


def _checked(files: Iterable[Path]) -> tuple[Path, ...]:
    paths = tuple(files)
    for path in paths:
        if path.stat().st_size == 0:
            raise ReadError("empty-file", "The file '{file}' is empty.", file=path.name)
    return paths


def _similar(path: Path) -> FixedText | None:
    if "@" in str(path):
        return None
    if not path.parent.is_dir():
        return FixedText(f"There is no folder '{path.parent}' either.")
    # The suffix alone would make every file of the same format similar.
    files = (file for file in path.parent.iterdir() if did_you_mean(path.stem, [file.stem]))
    return did_you_mean(path.name, (file.name for file in files))
