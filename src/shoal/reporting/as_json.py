"""Output of a report as JSON, for programs."""

import json
from collections.abc import Sequence
from dataclasses import fields
from importlib.metadata import version
from typing import Any

from shoal.reporting.audience import Audience
from shoal.reporting.document import Beside, Block, Figure, Section


def as_json(title: str, audience: Audience, sections: Sequence[Section]) -> str:
    """Return the report as one JSON document."""
    whole = {
        "shoal": version("shoal"),
        "title": title,
        "external": audience.external,
        "least": audience.least,
        "sections": [_plain(section) for section in sections],
    }
    return json.dumps(whole, ensure_ascii=False, indent=1, default=str) + "\n"


def _plain(block: Block) -> dict[str, Any]:
    kind = type(block).__name__.lower()
    if isinstance(block, Section):
        blocks = [_plain(part) for part in block.blocks]
        return {"kind": kind, "title": block.title, "anchor": block.anchor, "blocks": blocks}
    if isinstance(block, Beside):
        return {"kind": kind, "blocks": [_plain(part) for part in block.blocks]}
    if isinstance(block, Figure):
        return {"kind": kind, "says": block.alternative, "vega_lite": block.chart.spec}
    return {"kind": kind, **{field.name: getattr(block, field.name) for field in fields(block)}}
