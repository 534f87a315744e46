"""Which files a source is: one, all of a folder, or all that a pattern fits."""

import glob
from collections.abc import Iterable
from pathlib import Path

from shoal.errors import ReadError, did_you_mean
from shoal.remedy import FixedText

_PATTERN = frozenset("*?[")


def files_of(source: str | Path) -> tuple[Path, ...]:
    """Return the files of a path, a folder or a pattern such as ``2024-*.parquet``, in the order of their names."""
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
    """Return how a path is shown: not at all, if it may be an address with a password."""
    text = str(path)
    return f"'{text}'" if "@" not in text else "of that name; an address looks like postgresql://user@host/database"


def _in_folder(folder: Path) -> tuple[Path, ...]:
    """Return the files of a folder, but for those that other programs hide or leave as marks."""
    inside = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    deeper = next((path for path in inside if path.is_dir()), None)
    if deeper is not None:
        raise ReadError(
            "nested-folders",
            "The folder '{folder}' contains folders ('{inner}').",
            remedy="Give the files by a pattern, such as 'folder/**/*.parquet'. Names of folders are not read as "
            "values.",
            folder=folder.name,
            inner=deeper.name,
        )
    if not inside:
        raise ReadError("no-file", "The folder '{folder}' contains no files.", folder=folder.name)
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
    return did_you_mean(path.name, (file.name for file in path.parent.iterdir()))
