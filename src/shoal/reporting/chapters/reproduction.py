"""What it takes to make the release again."""

import platform
from importlib.metadata import version
from typing import Any

from shoal import toml
from shoal.release.fingerprint import fingerprint
from shoal.release.manifest import written
from shoal.release.published import published
from shoal.release.release import Release
from shoal.reporting.audience import Audience
from shoal.reporting.document import Block, Code, Facts, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings

_SEARCH = ("recoding", "suppression", "quality", "target", "balance", "outliers", "refine", "strict", "cuts", "sample")


def reproduction(found: PublicFindings, audience: Audience) -> Section:
    """Give the policy and the manifest."""
    del audience  # the owner's manifest is in the owner's findings only
    facts = [
        ("shoal", version("shoal")),
        (
            "Fingerprint of the released cells",
            fingerprint(found.released),
        ),
    ]
    if isinstance(found, Findings):
        lead = "The same data, policy and version give the same release, byte by byte."
        facts += [("Python", platform.python_version()), ("numpy", version("numpy")), ("PyArrow", version("pyarrow"))]
        policy, manifest = found.policy.document(), _internal(found.release)
    else:
        lead = "The owner can reproduce the release, byte by byte. Settings that may contain values are omitted."
        policy = _told(found)
        manifest = published(found.released, found.policy, found.chosen) if found.ours else None
    blocks: list[Block] = [Text(lead, Tone.LEAD), Facts(tuple(facts)), Code("Policy", toml.document(policy))]
    if manifest is not None:
        blocks.append(Code("Manifest", written(manifest)))
    return Section.of("To reproduce it", "reproduction", blocks)


def _internal(release: Release | None) -> dict[str, Any] | None:
    if release is None:
        return None
    return {name: held for name, held in release.internal.items() if name not in {"policy", "reference"}}


def _told(found: PublicFindings) -> dict[str, Any]:
    """Return the policy without values, keys and files."""
    held = found.policy.document()
    columns = {}
    for name, said in held.get("columns", {}).items():
        ladder = {"hierarchy": {"kind": said["hierarchy"]["kind"]}} if "hierarchy" in said else {}
        columns[name] = {"role": said["role"], **ladder}
    data = {name: said for name, said in held.get("data", {}).items() if name in {"subject", "household", "missing"}}
    parts = {
        "version": 1,
        "data": data,
        "columns": columns,
        "require": [_plain(one) for one in held.get("require", [])],
        "search": {name: said for name, said in held.get("search", {}).items() if name in _SEARCH},
        "context": held.get("context", {}),
    }
    return {name: part for name, part in parts.items() if part}


def _plain(asked: dict[str, Any]) -> dict[str, Any]:
    """Return a requirement with its numbers: texts and lists may name values."""
    return {
        name: said
        for name, said in asked.items()
        if name in {"model", "preset", "column", "distance"} or isinstance(said, int | float)
    }
