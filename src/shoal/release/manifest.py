"""Manifests as JSON, and recognition of a release by its internal manifest."""

import json
from collections.abc import Mapping
from typing import Any

from shoal.fileset import owner_folder, sha256
from shoal.plain import plain
from shoal.policy.policy import Policy
from shoal.release.fingerprint import fingerprint
from shoal.table.table import Table


def kept_document(table: Table, name: str) -> Mapping[str, Any] | None:
    """Return an owner's document of a released file; None if there is none for the file in its current state."""
    if len(table.source.files) != 1:
        return None
    path = table.source.files[0]
    of_dataset = owner_folder(path.parent) / f"{path.name}.{name}"
    kept = of_dataset if of_dataset.exists() else owner_folder(path) / name
    try:
        document = json.loads(kept.read_text(encoding="utf-8"))
        return document if document["file_sha256"] == sha256(path) else None
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None


def recorded(released: Table, original: Table, policy: Policy) -> Mapping[str, Any] | None:
    """Return the internal manifest of a released file; None if it does not record this original and this policy.

    Only ``[publish]`` may differ, because it does not affect the released file.
    """
    internal = kept_document(released, "internal.json")
    if internal is None:
        return None
    try:
        same_policy = _without_publish(internal["policy"]) == _without_publish(json.loads(written(policy.document())))
        same_input = internal["input"]["fingerprint"] == fingerprint(original)
    except (KeyError, TypeError, AttributeError):
        return None
    return internal if same_policy and same_input else None


def recorded_tables(released: Mapping[str, Table], policy: Policy) -> Mapping[str, Mapping[str, Any]] | None:
    """Return the internal manifests of the tables of a dataset; None if they do not record these files and this policy.

    The manifests do not identify the original; :func:`shoal.release.origins.kept_origins` does.
    """
    files = {name: table.source.files for name, table in released.items()}
    folders = {paths[0].parent for paths in files.values() if len(paths) == 1}
    if len(folders) != 1 or any(len(paths) != 1 for paths in files.values()):
        return None
    try:
        kept = owner_folder(folders.pop()) / "internal.json"
        internal = json.loads(kept.read_text(encoding="utf-8"))
        hashes = {paths[0].name: sha256(paths[0]) for paths in files.values()}
        same_files = all(internal["files"][name] == digest for name, digest in hashes.items())
        same_policy = _without_publish(internal["policy"]) == _without_publish(json.loads(written(policy.document())))
        return internal["tables"] if same_files and same_policy else None
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None


def _without_publish(policy: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in policy.items() if name != "publish"}


def written(manifest: Mapping[str, Any]) -> str:
    """Return a manifest as text; equal content gives equal bytes."""
    return json.dumps(plain(manifest), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
