"""Integrity of released files: a file that does not match the hash in its manifest is refused by every reader."""

import json
from pathlib import Path

from shoal.errors import ReadError
from shoal.fileset import DATASET, MANIFEST, plan_of, sha256


def check_whole(path: Path) -> None:
    """Refuse a released file whose hash differs from its manifest, or whose set is incompletely written."""
    for manifest in _manifests(path):
        if plan_of(manifest).exists():
            raise ReadError(
                "release-incomplete",
                "Writing the release of '{file}' was interrupted, or has not finished.",
                remedy="Run the command that writes it again: it completes the release first.",
                file=path.name,
            )
        named = _hash_in(manifest, path.name)
        if named is not None and named != sha256(path):
            raise ReadError(
                "release-modified",
                "'{file}' does not match the hash in '{manifest}': it was modified after its release.",
                remedy="Write the release again, or delete '{manifest}' if the file was modified intentionally.",
                file=path.name,
                manifest=manifest.name,
            )


def _manifests(path: Path) -> list[Path]:
    """Return the manifests that may list a file: its own, that of a dataset, and that of the table it was split from.

    >>> [manifest.name for manifest in _manifests(Path("out.sensitive.csv"))]
    ['out.sensitive.csv.manifest.json', 'dataset.manifest.json', 'out.csv.manifest.json']
    """
    whole, _, part = path.stem.rpartition(".")
    split = [f"{whole}{path.suffix}{MANIFEST}"] if whole and part else []
    return [path.with_name(name) for name in (f"{path.name}{MANIFEST}", DATASET, *split)]


def further_files(manifest: Path) -> list[Path]:
    """Return the unmodified files of a release that its manifest lists, without the one after which it is named."""
    listed, first = _content(manifest).get("files"), manifest.name.removesuffix(MANIFEST)
    files = listed if isinstance(listed, dict) else {}
    of_set = f"{Path(first).stem}." if manifest.name != DATASET else ""  # files beside a table are named after it
    names = [name for name in files if Path(name).name == name and name.startswith(of_set)]
    paths = {manifest.with_name(name): files[name] for name in names}
    return [path for path, digest in paths.items() if path.is_file() and sha256(path) == digest]


def _hash_in(manifest: Path, name: str) -> object:
    """Return the hash of a file in a manifest, which may list several files."""
    content = _content(manifest)
    files = content.get("files")
    if isinstance(files, dict) and name in files:
        return files[name]
    return content.get("file_sha256") if manifest.name == f"{name}{MANIFEST}" else None


def _content(manifest: Path) -> dict[str, object]:
    """Return the content of a manifest; nothing if it cannot be read."""
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
