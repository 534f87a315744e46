"""A chart: a Vega-Lite specification that can be displayed and saved."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from shoal.charts.colours import FAINT, INK
from shoal.errors import WriteError
from shoal.fileset import replacing
from shoal.remedy import either
from shoal.words import printable

VERSION = "6.4"
SCALE = 2  # pixels of a PNG per unit of the chart
_CONFIG = {
    "background": "white",
    "font": "Helvetica, Arial, Liberation Sans, sans-serif",
    "view": {"stroke": None},
    "title": {"anchor": "start", "color": INK, "subtitleColor": FAINT, "fontSize": 15, "subtitleFontSize": 11.5},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "domainColor": FAINT,
        "tickColor": FAINT,
        "gridColor": "#e4e7eb",
        "labelFontSize": 11.5,
        "titleFontSize": 11.5,
    },
    "text": {"color": INK, "fontSize": 11.5},
    "legend": {"labelColor": INK, "titleColor": INK, "titleFontWeight": "normal"},
}


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as data. ``spec``: a Vega-Lite specification that contains its data; nothing else is loaded."""

    spec: dict[str, Any]

    @classmethod
    def of(cls, title: str, subtitle: str | list[str], body: dict[str, Any]) -> "Chart":
        """Return a chart in the common style. The title states the main result."""
        return cls(
            {
                "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
                "title": {"text": _printable(title), "subtitle": _printable(subtitle)},
                "config": _CONFIG,
                "padding": 12,
                **_printable(body),
            }
        )

    def to_svg(self) -> str:
        """Return the chart as SVG."""
        return _renumbered(_converter().vegalite_to_svg(self.spec, vl_version=VERSION))

    def to_png(self) -> bytes:
        """Return the chart as PNG."""
        picture: bytes = _converter().vegalite_to_png(self.spec, vl_version=VERSION, scale=SCALE)
        return picture

    def to_pdf(self) -> bytes:
        """Return the chart as PDF."""
        picture: bytes = _converter().vegalite_to_pdf(self.spec, vl_version=VERSION)
        return picture

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the chart in the format given by the suffix: .png, .svg, .pdf, or .json for the specification."""
        target = Path(path)
        renderers: dict[str, Callable[[], bytes]] = {
            ".png": self.to_png,
            ".svg": lambda: self.to_svg().encode(),
            ".pdf": self.to_pdf,
            ".json": lambda: self.to_json().encode(),
        }
        make = renderers.get(target.suffix.lower())
        if make is None:
            raise WriteError(
                "unknown-picture-format",
                "'{file}' has no suffix of a chart format.",
                remedy="Use one of the suffixes {suffixes}.",
                file=target.name,
                suffixes=", ".join(renderers),
            )
        with replacing(target, force=force) as beside:
            beside.write_bytes(make())
        return target

    def to_json(self) -> str:
        """Return the specification as JSON."""
        return json.dumps(self.spec, ensure_ascii=False, indent=1) + "\n"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"application/vnd.vegalite.v6+json": self.spec, "text/plain": self.spec["title"]["text"]}


def _printable(part: Any) -> Any:
    """Return a part of a specification without characters that cannot be displayed, which crash the converter.

    >>> _printable({"data": [{"name": "a" + chr(7)}]}) == {"data": [{"name": "a" + chr(0xFFFD)}]}
    True
    """
    if isinstance(part, str):
        return printable(part)
    if isinstance(part, dict):
        return {_printable(name): _printable(value) for name, value in part.items()}
    return [_printable(value) for value in part] if isinstance(part, list | tuple) else part


def _renumbered(svg: str) -> str:
    """Renumber the element ids of an SVG from 0, because the converter continues its count from chart to chart.

    >>> _renumbered('<g id="clip7"/><path clip-path="url(#clip7)"/><g id="gradient_9"/>')
    '<g id="clip0"/><path clip-path="url(#clip0)"/><g id="gradient_1"/>'
    """
    names = dict.fromkeys(re.findall(r'id="([a-z_]+\d+)"', svg))
    new = {name: re.sub(r"\d+$", str(place), name) for place, name in enumerate(names)}
    return re.sub(r"(?<=[\"#])[a-z_]+\d+(?=[\")])", lambda matched: new.get(matched[0], matched[0]), svg)


def _converter() -> ModuleType:
    try:
        import vl_convert
    except ImportError:
        converter = None
    else:
        converter = vl_convert
    if converter is None:
        raise WriteError(
            "not-installed",
            "Pictures require vl-convert, which is not installed.",
            remedy=either('Run pip install "shoal[report]"', "save the specification with the suffix .json"),
        )
    return converter
