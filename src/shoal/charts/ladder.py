"""A hierarchy, with the number of records per node."""

from typing import Any

import numpy as np

from shoal.charts.chart import Chart
from shoal.charts.colours import INK, PROTECTED
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.recoding.nodes import Ints

FEW = 5  # nodes with fewer records are not named
_NARROW = 0.004  # share of the width below which adjacent nodes are merged
_AXIS = {"grid": False, "ticks": False, "domain": False}
_LETTER = 0.011  # width of a letter as a share of the chart width


def ladder(hierarchy: Hierarchy, counts: Ints, *, level: int | None = None, few: int = FEW) -> Chart:
    """Draw the levels of a hierarchy one above the other, with the width of each node as its share of the records.

    ``counts[code]``: the number of records with each code of the column. ``level``: the chosen level, drawn darker.
    Nodes with fewer than ``few`` records are not named.

    >>> import numpy as np, shoal
    >>> from shoal.hierarchy.spec import bind_all
    >>> table = shoal.read({"age": [31, 34, 71]})
    >>> held = bind_all({"age": {"kind": "interval", "widths": [10]}}, table)["age"]
    >>> ladder(held, np.array([1, 1, 1])).spec["title"]["text"]
    'age: 3 values become 2, and *'
    """
    order = _order(hierarchy)
    values = [
        bar | {"chosen": number == level}
        for number in range(hierarchy.height + 1)
        for bar in _bars(hierarchy, number, counts, order, few)
    ]
    number = [int(np.count_nonzero(np.bincount(hierarchy.nodes(level), counts))) for level in range(hierarchy.height)]
    steps = ", ".join(f"{nodes:,}" for nodes in number[1:])
    title = f"{hierarchy.column}: {number[0]:,} values become {steps + ', and *' if steps else '*'}"
    subtitle = f"Each node is as wide as its share of the {int(counts.sum()):,} records"
    chosen = "" if level is None else "; dark: the level that was chosen"
    merged = "; grey: several narrow nodes" if any(bar["more"] > 1 for bar in values) else ""
    return Chart.of(title, subtitle + merged + chosen, _body(values, hierarchy.height))


def _order(hierarchy: Hierarchy) -> Ints:
    """Return the codes in an order that keeps the members of each node adjacent."""
    keys = [hierarchy.nodes(level) for level in range(hierarchy.height + 1)]
    return np.lexsort(keys)


def _bars(hierarchy: Hierarchy, level: int, counts: Ints, order: Ints, few: int) -> list[dict[str, Any]]:
    """Return the nodes of a level from left to right, with adjacent nodes that are too narrow to be visible merged."""
    nodes, weights = hierarchy.nodes(level)[order], counts[order]
    shown = np.flatnonzero(weights)
    nodes, weights = nodes[shown], weights[shown]
    starts = np.flatnonzero(np.concatenate([[True], nodes[1:] != nodes[:-1]])) if len(nodes) else np.zeros(0, int)
    sums, size = np.add.reduceat(weights, starts) if len(starts) else weights, max(int(weights.sum()), 1)
    labels, at = hierarchy.levels[level].labels, 0
    bars: list[dict[str, Any]] = []
    for node, number in zip(nodes[starts].tolist(), sums.tolist(), strict=True):
        narrow = number < _NARROW * size
        if narrow and bars and bars[-1]["narrow"]:
            bars[-1]["end"] = (at + number) / size
            bars[-1]["several"] += 1
        else:
            name = "(missing)" if labels[node] is None else str(labels[node])
            label = name if number >= few else ""
            bars.append(
                {"begin": at / size, "end": (at + number) / size, "narrow": narrow, "name": label, "several": 1}
            )
        at += number
    return [_named(bar, level) for bar in bars]


def _named(bar: dict[str, Any], level: int) -> dict[str, Any]:
    room = int((bar["end"] - bar["begin"]) / _LETTER)
    name = bar["name"] if bar["several"] == 1 else ""
    shown = name if len(name) <= room else f"{name[: room - 1]}…" if room > 2 else ""
    return {"level": str(level), "begin": bar["begin"], "end": bar["end"], "label": shown, "more": bar["several"]}


def _body(values: list[dict[str, Any]], height: int) -> dict[str, Any]:
    levels = [str(level) for level in range(height, -1, -1)]
    y = {"field": "level", "type": "nominal", "sort": levels, "title": "level", "axis": _AXIS}
    x = {"field": "begin", "type": "quantitative", "axis": None, "scale": {"domain": [0, 1]}}
    fill = {
        "condition": [{"test": "datum.chosen", "value": PROTECTED[2]}, {"test": "datum.more > 1", "value": "#e4e7eb"}],
        "value": PROTECTED[0],
    }
    bar = {
        "mark": {"type": "bar", "stroke": "white", "strokeWidth": 0.7, "height": {"band": 0.92}},
        "encoding": {"y": y, "x": x, "x2": {"field": "end"}, "color": fill},
    }
    text = {
        "transform": [{"filter": "datum.label != ''"}, {"calculate": "(datum.begin + datum.end) / 2", "as": "middle"}],
        "mark": {"type": "text", "color": INK, "fontSize": 10.5},
        "encoding": {"y": y, "x": {**x, "field": "middle"}, "text": {"field": "label"}},
    }
    return {"width": 600, "height": {"step": 26}, "data": {"values": values}, "layer": [bar, text]}
