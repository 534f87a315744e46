"""Which columns tell what is in others."""

from math import cos, pi, sin
from typing import Any

from shoal.charts.chart import Chart
from shoal.charts.colours import FAINT, INK, LINES
from shoal.errors import counted
from shoal.identification.found import Found
from shoal.identification.links import Way

_OUT = 1.25  # where names stand, if columns stand at 1
_WAYS = [way.value for way in Way]


def linked_columns(found: Found) -> Chart:
    """Draw columns on a circle, and a line between two if one tells what is in the other.

    >>> import shoal
    >>> found = shoal.identify({"age": [30, 40, 50] * 20, "born": [1994, 1984, 1974] * 20, "sex": list("fmmf") * 15})
    >>> linked_columns(found).spec["title"]["text"]
    '2 columns tell what is in others'
    """
    names = list(dict.fromkeys(name for link in found.links for name in (*link.columns, link.told)))
    angle = {name: 2 * pi * place / max(len(names), 1) for place, name in enumerate(names)}
    lines = [
        {
            "x": cos(angle[name]),
            "y": sin(angle[name]),
            "x2": cos(angle[link.told]),
            "y2": sin(angle[link.told]),
            "way": link.way.value,
        }
        for link in found.links
        for name in link.columns
    ]
    title = "No column tells what is in another"
    if names:
        title = f"{counted(len(names), 'column')} tell what is in others"
    return Chart.of(title, "Coarsening one of them without the others protects nothing", _body(names, angle, lines))


def _body(names: list[str], angle: dict[str, float], lines: list[dict[str, Any]]) -> dict[str, Any]:
    scale = {"domain": [-1.6, 1.6]}
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": scale}
    y = {"field": "y", "type": "quantitative", "axis": None, "scale": scale}
    colour = {
        "field": "way",
        "type": "nominal",
        "title": None,
        "scale": {"domain": _WAYS, "range": [LINES[0], LINES[1], LINES[2]]},
    }
    points = [{"name": name, "x": cos(angle[name]), "y": sin(angle[name])} for name in names]
    labels = [{"name": name, "x": _OUT * cos(angle[name]), "y": _OUT * sin(angle[name])} for name in names]
    rule = {"type": "rule", "strokeWidth": 2}
    return {
        "width": 380,
        "height": 380,
        "layer": [
            {
                "data": {"values": lines},
                "mark": rule,
                "encoding": {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "y2"}, "color": colour},
            },
            {
                "data": {"values": points},
                "mark": {"type": "circle", "size": 70, "color": FAINT},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": labels},
                "mark": {"type": "text", "color": INK},
                "encoding": {"x": x, "y": y, "text": {"field": "name"}},
            },
        ],
    }
