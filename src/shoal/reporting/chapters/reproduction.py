"""What it takes to make the release again."""

import platform
from importlib.metadata import version
from typing import Any

from shoal import toml
from shoal.release.manifest import written
from shoal.reporting.audience import Audience
from shoal.reporting.document import Block, Code, Facts, Section, Text, Tone
from shoal.reporting.findings import Findings

_COUNTS = ("suppressed", "suppressed_records", "records_on_levels", "outliers", "sampling")  # that may be small


def reproduction(found: Findings, audience: Audience) -> Section:
    """Give the policy and the manifest."""
    lead = Text("The same data, policy and version give the same release, byte by byte.", Tone.LEAD)
    facts = [("shoal", version("shoal"))]
    if not audience.external:
        facts += [("Python", platform.python_version()), ("numpy", version("numpy")), ("PyArrow", version("pyarrow"))]
    blocks: list[Block] = [lead, Facts(tuple(facts)), Code("Policy", toml.document(_policy(found, audience)))]
    if found.release is not None:
        manifest = dict(found.release.public if audience.external else found.release.internal)
        if audience.external:
            manifest = {name: held for name, held in manifest.items() if name not in {*_COUNTS, "quality"}}
        else:
            manifest = {name: held for name, held in manifest.items() if name not in {"policy", "reference"}}
        blocks.append(Code("Manifest", written(manifest)))
    return Section.of("To reproduce it", "reproduction", blocks)


def _policy(found: Findings, audience: Audience) -> dict[str, Any]:
    """Return the policy; to others without what may name values: the parameters of hierarchies, and how it was read."""
    held = found.policy.document()
    if not audience.external:
        return held
    columns = {
        name: {**said, "hierarchy": {"kind": said["hierarchy"]["kind"]}} if "hierarchy" in said else said
        for name, said in held.get("columns", {}).items()
    }
    data = {name: said for name, said in held.get("data", {}).items() if name != "read"}
    rest = {name: said for name, said in held.items() if name not in {"population", "pseudonyms"}}
    return {**rest, **({"data": data} if data else {}), "columns": columns}
