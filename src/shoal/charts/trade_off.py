"""Gain in k and information loss of each further generalised column: the dimension of the quasi-identifiers."""

from typing import Any

from shoal.charts.chart import Chart
from shoal.charts.colours import INK, LINES
from shoal.identification.dimension import Dimension, Step

_LINE = 90  # maximum length of a line, in letters


def trade_off(dimension: Dimension) -> Chart:
    """Draw k against the information loss, one point per set of generalised columns.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "sex": ["f", "f", "m", "m"]}
    >>> ladder = {"age": {"kind": "interval", "widths": [10]}}
    >>> trade_off(shoal.dimension(data, quasi=["age", "sex"], hierarchies=ladder)).spec["title"]["text"]
    'k = 2 at 33.3% information loss, with 1 column generalised'
    """
    steps = [dimension.before, *dimension.steps]
    best = next((step for step in steps if step.columns == dimension.principled.columns), None)
    title = "No dimension meets the requirements"
    if best is not None:
        number = f"{best.dimension} column{'s' if best.dimension != 1 else ''}"
        title = f"k = {best.k:,} at {best.generic_percent:.1f}% information loss, with {number} generalised"
    values = [_value(step, dimension, best) for step in steps]
    subtitle = [
        "Columns are generalised one after another along the line; filled: recommended",
        *_order(dimension),
    ]
    return Chart.of(title, subtitle, _body(values))


def _order(dimension: Dimension) -> list[str]:
    """Return the numbered columns in order, wrapped into lines."""
    lines = [""]
    for place, name in enumerate(dimension.order, 1):
        label = f"{place} {name}"
        fits = len(lines[-1]) + len(label) < _LINE
        lines[-1:] = [f"{lines[-1]} · {label}".removeprefix(" · ")] if fits else [lines[-1], label]
    return [line for line in lines if line]


def _value(step: Step, dimension: Dimension, best: Step | None) -> dict[str, Any]:
    prefix = step.columns == dimension.order[: step.dimension]
    return {
        "lost": step.generic_percent / 100,
        "k": step.k,
        "name": str(step.dimension) if prefix else "",
        "prefix": prefix,
        "place": step.dimension,
        "best": step is best,
    }


def _body(values: list[dict[str, Any]]) -> dict[str, Any]:
    x = {
        "field": "lost",
        "type": "quantitative",
        "title": "information loss (generic non-uniform entropy)",
        "axis": {"format": "%", "grid": False},
        "scale": {"domain": [0, 1]},
    }
    scale = {"type": "log", "domain": [1, max(10, *(value["k"] for value in values))]}
    y = {"field": "k", "type": "quantitative", "title": "k", "scale": scale, "axis": {"format": ",d"}}
    line = {
        "transform": [{"filter": "datum.prefix"}],
        "mark": {"type": "line", "color": LINES[0]},
        "encoding": {"x": x, "y": y, "order": {"field": "place", "type": "quantitative"}},
    }
    fill = {"condition": {"test": "datum.best", "value": LINES[0]}, "value": "white"}
    points = {
        "mark": {"type": "point", "size": 80, "filled": False, "stroke": LINES[0]},
        "encoding": {"x": x, "y": y, "fill": fill},
    }
    text = {
        "mark": {"type": "text", "dy": -14, "color": INK},
        "encoding": {"x": x, "y": y, "text": {"field": "name"}},
    }
    return {"width": 480, "height": 280, "data": {"values": values}, "layer": [line, points, text]}
