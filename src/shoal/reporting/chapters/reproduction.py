"""Chapter on the reproduction of the release."""

import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

from shoal import toml
from shoal.release.fingerprint import fingerprint
from shoal.release.manifest import written
from shoal.release.part import ReleasePart
from shoal.release.published import published
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.dataset_findings import DatasetFindings
from shoal.reporting.document import Block, Code, Facts, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.table.table import Table

_SEARCH = (
    *("recoding", "suppression", "quality", "target", "balance", "outliers", "refine", "strict", "cuts", "sample"),
    "publish",
)


@chapter("reproduction", place=130, whole=True)
def reproduction(findings: PublicFindings | DatasetFindings, audience: Audience) -> Section:
    """Document the policy, the manifest and the software versions."""
    del audience  # the owner's manifest is in the owner's findings only
    tables = findings.by_table
    facts = [("shoal", version("shoal"))]
    facts += [
        (_about("Fingerprint of the released cells", part or name), fingerprint(table))
        for name, found in tables.items()
        for part, table in _tables(found).items()
    ]
    confidential = all(isinstance(found, Findings) for found in tables.values())
    if confidential:
        lead = "The same data, policy and version give the same release, byte for byte."
        facts += [("Python", platform.python_version()), ("numpy", version("numpy")), ("PyArrow", version("pyarrow"))]
    else:
        lead = "The owner can reproduce the release, byte for byte. Settings that may contain values are omitted."
    blocks: list[Block] = [Text(lead, Tone.LEAD), Facts(tuple(facts)), *_policies(findings, confidential=confidential)]
    for name, found in tables.items():
        manifest = _manifest(found)
        if manifest is not None:
            blocks.append(Code(_about("Manifest", name), written(manifest)))
    return Section.of("Reproduction", "reproduction", blocks)


def _tables(findings: PublicFindings) -> Mapping[str, Table]:
    """Return the released tables by name; a single table has no name."""
    return {"": findings.released} if findings.split is None else findings.split.tables


def _about(title: str, table: str) -> str:
    """Return a title with the name of its table; a single table has no name."""
    return f"{title} ({table})" if table else title


def _policies(findings: PublicFindings | DatasetFindings, *, confidential: bool) -> Iterator[Code]:
    """Yield the policy; for recipients, the part of it that concerns each table, without values."""
    if confidential:
        yield Code("Policy", toml.document(findings.policy.document()))
        return
    for name, found in findings.by_table.items():
        yield Code(_about("Policy", name), toml.document(_told(found)))


def _manifest(findings: PublicFindings) -> dict[str, Any] | None:
    """Return the manifest: the internal one for the owner, the public one for recipients."""
    if isinstance(findings, Findings):
        return _internal(findings.part)
    if not findings.ours:
        return None
    divided = findings.split is not None and findings.split.divides_identities
    public = published(findings.released, findings.policy, findings.chosen, divides_identities=divided)
    for column in public.get("perturbed", {}).values():
        column.pop("matrix", None)  # it names values of few individuals
    return public


def _internal(part: ReleasePart | None) -> dict[str, Any] | None:
    if part is None:
        return None
    return {name: value for name, value in part.internal.items() if name not in {"policy", "reference"}}


def _told(findings: PublicFindings) -> dict[str, Any]:
    """Return the policy without data values, keys and file names."""
    document = findings.policy.document()
    columns = {}
    for name, column in document.get("columns", {}).items():
        ladder = {"hierarchy": {"kind": column["hierarchy"]["kind"]}} if "hierarchy" in column else {}
        perturb = {"perturb": _plain(column["perturb"])} if "perturb" in column else {}
        columns[name] = {"role": column["role"], **ladder, **perturb}
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
        if name in {"model", "preset", "attack", "column", "distance", "kind"} or isinstance(value, int | float)
    }
