"""Dependencies between columns."""

import json
from math import cos, pi, sin
from typing import Any

from shoal.analyses.links import Link, Way
from shoal.charts.chart import Chart
from shoal.charts.colours import FAINT, LINES
from shoal.identification.identification import Identification
from shoal.words import counted

_WAYS = [way.value for way in Way]
_STEP = 24  # vertical distance of the columns, in pixels
_BENDS = 24  # line segments per arc


def linked_columns(identification: Identification) -> Chart:
    """Draw dependent columns one below another, with an arc from each column to the column that it determines.

    >>> import shoal
    >>> found = shoal.identify({"age": [30, 40, 50] * 20, "born": [1994, 1984, 1974] * 20, "sex": list("fmmf") * 15})
    >>> linked_columns(found).spec["title"]["text"]
    '2 columns determine others'
    """
    linked = {name for link in identification.links for name in (*link.columns, link.told)}
    names = [name for name in identification.columns if name in linked]
    pairs = [(link, name) for link in identification.links for name in link.columns]
    arcs = [point for number, (link, name) in enumerate(pairs) for point in _arc(number, link, name, names)]
    title = "No column determines another"
    if names:
        mutual = {link.told for link in identification.links if link.both or link.way is Way.NEAR}
        determining = len({name for _, name in pairs} | mutual)
        title = f"{counted(determining, 'column')} {'determines' if determining == 1 else 'determine'} others"
    return Chart.of(title, "Generalise dependent columns together", _body(names, arcs))


def _arc(number: int, link: Link, name: str, names: list[str]) -> list[dict[str, Any]]:
    """Return the points of an arc. Its width grows with the distance between its ends."""
    begin, end = names.index(name), names.index(link.told)
    return [
        {
            "arc": number,
            "place": place,
            "aside": sin(pi * place / _BENDS) * abs(end - begin),
            "along": (begin + end) / 2 - cos(pi * place / _BENDS) * (end - begin) / 2,
            "way": link.way.value,
        }
        for place in range(_BENDS + 1)
    ]


def _body(names: list[str], arcs: list[dict[str, Any]]) -> dict[str, Any]:
    widest = max((point["aside"] for point in arcs), default=1)
    x = {"type": "quantitative", "axis": None, "scale": {"domain": [0, 1.05 * widest]}}
    axis = {
        "values": list(range(len(names))),
        "labelExpr": f"{json.dumps(names)}[datum.value]",
        "offset": 8,
        "labelLimit": 260,
        "grid": False,
        "ticks": False,
        "domain": False,
        "title": None,
    }
    y = {"type": "quantitative", "axis": axis, "scale": {"domain": [max(len(names), 1) - 0.5, -0.5], "nice": False}}
    colour = {
        "field": "way",
        "type": "nominal",
        "title": None,
        "scale": {"domain": _WAYS, "range": [LINES[0], LINES[1], LINES[2]]},
    }
    lines = {
        "data": {"values": arcs},
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": {"field": "aside", **x},
            "y": {"field": "along", **y},
            "order": {"field": "place", "type": "quantitative"},
            "detail": {"field": "arc", "type": "nominal"},
            "color": colour,
        },
    }
    points = {
        "data": {"values": [{"aside": 0, "along": place} for place in range(len(names))]},
        "mark": {"type": "circle", "size": 60, "color": FAINT, "opacity": 1},
        "encoding": {"x": {"field": "aside", **x}, "y": {"field": "along", **y}},
    }
    return {"width": 240, "height": _STEP * max(len(names), 1), "layer": [lines, points]}
