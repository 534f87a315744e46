"""Chapter on the reproduction of the release."""

import platform
from importlib.metadata import version
from typing import Any

from shoal import toml
from shoal.release.fingerprint import fingerprint
from shoal.release.manifest import written
from shoal.release.published import published
from shoal.release.release import Release
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.document import Block, Code, Facts, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings

_SEARCH = ("recoding", "suppression", "quality", "target", "balance", "outliers", "refine", "strict", "cuts", "sample")


@chapter("reproduction", place=130)
def reproduction(findings: PublicFindings, audience: Audience) -> Section:
    """Document the policy, the manifest and the software versions."""
    del audience  # the owner's manifest is in the owner's findings only
    facts = [
        ("shoal", version("shoal")),
        (
            "Fingerprint of the released cells",
            fingerprint(findings.released),
        ),
    ]
    if isinstance(findings, Findings):
        lead = "The same data, policy and version give the same release, byte for byte."
        facts += [("Python", platform.python_version()), ("numpy", version("numpy")), ("PyArrow", version("pyarrow"))]
        policy, manifest = findings.policy.document(), _internal(findings.release)
    else:
        lead = "The owner can reproduce the release, byte for byte. Settings that may contain values are omitted."
        policy = _told(findings)
        manifest = published(findings.released, findings.policy, findings.chosen) if findings.ours else None
    blocks: list[Block] = [Text(lead, Tone.LEAD), Facts(tuple(facts)), Code("Policy", toml.document(policy))]
    if manifest is not None:
        blocks.append(Code("Manifest", written(manifest)))
    return Section.of("Reproduction", "reproduction", blocks)


def _internal(release: Release | None) -> dict[str, Any] | None:
    if release is None:
        return None
    return {name: value for name, value in release.internal.items() if name not in {"policy", "reference"}}


def _told(findings: PublicFindings) -> dict[str, Any]:
    """Return the policy without data values, keys and file names."""
    document = findings.policy.document()
    columns = {}
    for name, column in document.get("columns", {}).items():
        ladder = {"hierarchy": {"kind": column["hierarchy"]["kind"]}} if "hierarchy" in column else {}
        columns[name] = {"role": column["role"], **ladder}
    data = {
        name: value for name, value in document.get("data", {}).items() if name in {"subject", "household", "missing"}
    }
    parts = {
        "version": 1,
        "data": data,
        "columns": columns,
        "require": [_plain(requirement) for requirement in document.get("require", [])],
        "search": {name: value for name, value in document.get("search", {}).items() if name in _SEARCH},
        "context": document.get("context", {}),
    }
    return {name: part for name, part in parts.items() if part}


def _plain(asked: dict[str, Any]) -> dict[str, Any]:
    """Return a requirement with its numeric parameters only, because texts and lists may contain data values."""
    return {
        name: value
        for name, value in asked.items()
        if name in {"model", "preset", "column", "distance"} or isinstance(value, int | float)
    }
