"""Correlations between columns before and after anonymisation."""

from typing import Any

from shoal.charts.chart import Chart
from shoal.charts.colours import BREACH, INK, PROTECTED
from shoal.errors import RecodingError
from shoal.qualities.correlations import pairs
from shoal.recoding.recoding import Recoding
from shoal.words import short

MOST = 20  # maximum number of columns drawn


def correlations(recoding: Recoding) -> Chart:
    """Draw the change in correlation of each pair of columns: orange if weaker, blue if stronger.

    >>> import shoal
    >>> before, after = {"x": [1, 2, 3, 4], "y": [2, 4, 6, 8]}, {"x": [1, 2, 3, 4], "y": list("****")}
    >>> correlations(shoal.compare(before, after).recoding).spec["title"]["text"]
    'Largest change of association: x and y, from 1 to 0'
    """
    strengths = pairs(recoding)
    if not strengths:
        raise RecodingError("nothing-to-draw", "Fewer than two columns vary, so there is no correlation to draw.")
    names = list(dict.fromkeys(name for pair in strengths for name in pair))
    values = [
        {"one": left, "two": two, "before": before, "after": after, "change": abs(after) - abs(before)}
        for (first, second), (before, after) in strengths.items()
        if {first, second} <= set(names[:MOST])
        for left, two in ((first, second), (second, first))
    ]
    (first, two), (before, after) = max(strengths.items(), key=lambda pair: abs(pair[1][0] - pair[1][1]))
    title = f"Largest change of association: {first} and {two}, from {short(before)} to {short(after)}"
    subtitle = "Pearson's r of numbers, the correlation ratio of a number and a category, Cramér's V of categories"
    if len(names) > MOST:
        subtitle += f". {len(names) - MOST} more columns are not shown"
    return Chart.of(title, [subtitle, "In each cell: before → after"], _body(values, names[:MOST]))


def _body(values: list[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    side = 74 if len(names) <= 8 else 30
    axis = {"labelLimit": 140, "grid": False, "ticks": False, "domain": False}
    y = {"field": "one", "type": "nominal", "sort": names, "title": None, "axis": axis}
    x = {"field": "two", "type": "nominal", "sort": names, "title": None, "axis": {**axis, "labelAngle": -30}}
    scale = {"domain": [-1, 0, 1], "range": [BREACH, "#ffffff", PROTECTED[3]], "interpolate": "rgb"}
    fill = {"field": "change", "type": "quantitative", "scale": scale, "legend": {"title": "change", "format": "+.1f"}}
    tooltip = [
        {"field": "one"},
        {"field": "two"},
        {"field": "before", "format": ".3f"},
        {"field": "after", "format": ".3f"},
    ]
    cell = {
        "mark": {"type": "rect", "stroke": "#e4e7eb"},
        "encoding": {"x": x, "y": y, "color": fill, "tooltip": tooltip},
    }
    text = {
        "transform": [{"calculate": "format(datum.before, '.2f') + ' → ' + format(datum.after, '.2f')", "as": "told"}],
        "mark": {"type": "text", "fontSize": 10, "color": INK},
        "encoding": {"x": x, "y": y, "text": {"field": "told"}},
    }
    return {
        "width": {"step": side},
        "height": {"step": min(side, 34)},
        "data": {"values": values},
        "layer": [cell, *([text] if side > 30 else [])],
    }
