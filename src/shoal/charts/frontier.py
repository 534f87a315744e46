"""Frontier between risk and quality: the cost of each k."""

from typing import Any

from shoal.charts.chart import Chart
from shoal.charts.colours import LINES
from shoal.errors import ModelError
from shoal.search.frontier import Frontier
from shoal.words import short


def frontier(frontier: Frontier) -> Chart:
    r"""Draw the lowest cost for each k, one line per suppression limit.

    >>> import shoal
    >>> policy = shoal.Policy.parse('version = 1\ncolumns.age = { role = "quasi" }')
    >>> made = shoal.frontier({"age": [31, 31, 34, 34, 71, 71]}, policy, sizes=[2, 6], limits=[0.0])
    >>> frontier(made).spec["title"]["text"]
    'From k = 2 to k = 6 the information loss rises from 0 to 1, without suppression'
    """
    values = [
        {"k": point.k, "cost": point.price, "limit": _share(point.limit)}
        for point in frontier.points
        if point.price is not None
    ]
    if not values:
        raise ModelError("nothing-to-draw", "No scheme meets the requirements, so there is nothing to draw.")
    limits = [_share(limit) for limit in sorted({point.limit for point in frontier.points})]
    line = [value for value in values if value["limit"] == values[0]["limit"]]
    first, last = line[0], line[-1]
    limit = "without suppression" if first["limit"] == _share(0) else f"with at most {first['limit']} suppressed"
    costs = short(first["cost"]), short(last["cost"])
    rise = (
        f"the information loss is {costs[0]}"
        if costs[0] == costs[1]
        else f"the information loss rises from {costs[0]} to {costs[1]}"
    )
    title = f"From k = {first['k']:,} to k = {last['k']:,} {rise}, {limit}"
    schemes = f"{frontier.schemes:,} schemes of global recoding"
    subtitle = f"Each point: the best of {schemes} (measure: {frontier.quality}; lower is better)"
    return Chart.of(title, subtitle, _body(values, limits, frontier.quality))


def _share(limit: float) -> str:
    return f"{100 * limit:g} %"


def _body(values: list[dict[str, Any]], limits: list[str], quality: str) -> dict[str, Any]:
    sizes = sorted({value["k"] for value in values})
    axis = {"values": sizes, "format": ",d", "grid": False}
    x = {"field": "k", "type": "quantitative", "title": "k", "scale": {"type": "log", "nice": False}, "axis": axis}
    y = {"field": "cost", "type": "quantitative", "title": f"information loss ({quality})", "scale": {"zero": True}}
    colours = {"domain": limits, "range": list(LINES[: len(limits)])}
    legend = {"title": "suppression limit", "orient": "top", "direction": "horizontal"}
    colour = {"field": "limit", "type": "nominal", "scale": colours, "legend": legend}
    line = {"mark": {"type": "line", "point": True}, "encoding": {"x": x, "y": y, "color": colour}}
    return {"width": 480, "height": 280, "data": {"values": values}, "layer": [line]}
