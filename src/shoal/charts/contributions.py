"""Contribution of each column to the uniqueness of individuals."""

from typing import Any

from shoal.charts.chart import Chart
from shoal.charts.colours import INK, LINES
from shoal.errors import ModelError
from shoal.identification.identification import Identification
from shoal.remedy import Option
from shoal.words import share

MOST = 30  # maximum number of columns drawn


def contributions(identification: Identification) -> Chart:
    """Draw the contribution of each column: the share of individuals it makes unique, in descending order.

    >>> import shoal
    >>> chart = contributions(shoal.identify({"age": [30, 31, 32, 32], "sex": ["f", "f", "f", "m"]}))
    >>> chart.spec["title"]["text"]
    'Largest contribution: age, which adds 62.5% of the individuals as unique on average'
    """
    parts = identification.contribution
    if parts is None:
        raise ModelError(
            "not-computed",
            "The contributions of column combinations were not computed.",
            remedy=Option("combinations", True),
        )
    order = sorted(parts.shares, key=lambda name: -parts.shares[name])[:MOST]
    values = [
        {
            "column": name,
            "share": parts.shares[name],
            "low": max(parts.shares[name] - 2 * parts.errors[name], 0),
            "high": parts.shares[name] + 2 * parts.errors[name],
            "role": str(identification.columns[name].role),
        }
        for name in order
    ]
    left_out = len(parts.shares) - len(order)
    subtitle = "Average contribution to uniqueness over all orders of columns (Shapley value)"
    more = "" if parts.exact else "; lines: two standard errors"
    rest = f"; {left_out} more columns contribute less" if left_out else ""
    most = share(parts.shares[order[0]])
    title = f"Largest contribution: {order[0]}, which adds {most} of the individuals as unique on average"
    return Chart.of(title, subtitle + more + rest, _body(values, order, errors=not parts.exact))


def _body(values: list[dict[str, Any]], order: list[str], *, errors: bool) -> dict[str, Any]:
    y = {"field": "column", "type": "nominal", "sort": order, "title": None, "axis": {"labelLimit": 220}}
    x = {
        "field": "share",
        "type": "quantitative",
        "title": "additional unique individuals, average",
        "axis": {"format": ".1~%", "tickCount": 6},
    }
    roles = ["quasi", "sensitive", "insensitive"]
    colour = {
        "field": "role",
        "type": "nominal",
        "title": "proposed role",
        "scale": {"domain": roles, "range": [LINES[0], LINES[1], LINES[2]]},
    }
    bars = {"mark": {"type": "bar", "height": {"band": 0.7}}, "encoding": {"x": x, "y": y, "color": colour}}
    lines = {
        "mark": {"type": "rule", "color": INK},
        "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}, "y": y},
    }
    layers = [bars, lines] if errors else [bars]
    return {"width": 420, "height": {"step": 18}, "data": {"values": values}, "layer": layers}
