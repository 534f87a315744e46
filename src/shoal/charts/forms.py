"""Forms of a release side by side: the error of counts, and how many sensitive values are guessed."""

from typing import Any

from shoal.analyses.form_comparison import FormComparison
from shoal.charts.chart import Chart
from shoal.charts.colours import INK, LINES
from shoal.errors import ModelError
from shoal.words import share


def forms(comparison: FormComparison) -> Chart:
    """Draw the error of count queries for each form, and the share of guessed values, with interval and control.

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns = { age = "quasi", sex = "quasi", dx = "sensitive" }
    ... ''')
    >>> data = {"age": [31, 32, 33, 51] * 9, "sex": ["f", "m", "m"] * 12, "dx": ["flu", "ms", "gout", "flu"] * 9}
    >>> forms(shoal.compare_forms(data, policy, l=2)).spec["title"]["text"].partition(" ")[0]
    'Smallest'
    """
    values = [
        {
            "form": each.title,
            "error": each.error.median,
            "guessed": each.inferred.value,
            "low": each.inferred.low,
            "high": each.inferred.high,
            "control": each.control,
        }
        for each in comparison.figures
    ]
    if not values:
        raise ModelError("nothing-to-draw", "No form of the release is possible.")
    best = min(comparison.figures, key=lambda each: each.error.median)
    guessed = f"{share(best.inferred.value)} of the values are guessed"
    title = f"Smallest error: {best.title} ({share(best.error.median)}); {guessed}"
    subtitle = (
        f"Each point: a form with l = {comparison.l}; line: 95% interval; cross: the same attack where nothing can be "
        "learned. Lower and further left is better"
    )
    rules = [
        {"at": 1 / comparison.l, "means": "1/l"},
        {"at": comparison.guessed, "means": "without the release"},
    ]
    return Chart.of(title, subtitle, _body(values, rules))


def _body(values: list[dict[str, Any]], rules: list[dict[str, Any]]) -> dict[str, Any]:
    percent = {"format": ".1~%"}
    widest = 1.2 * max(value["error"] for value in values) or 0.01  # leaves room for the names
    scale = {"domain": [0, widest]}
    axis = {"title": "median relative error of counts", "axis": percent, "scale": scale}
    x = {"field": "error", "type": "quantitative", **axis}
    y = {"field": "guessed", "type": "quantitative", "title": "sensitive values guessed", "axis": percent}
    at = {"field": "at", "type": "quantitative"}
    edge = {"value": "width"}
    limits = {
        "data": {"values": rules},
        "layer": [
            {"mark": {"type": "rule", "strokeDash": [4, 3], "color": INK, "opacity": 0.5}, "encoding": {"y": at}},
            {
                "mark": {"type": "text", "align": "right", "dy": -5, "fontSize": 10, "color": INK},
                "encoding": {"x": edge, "y": at, "text": {"field": "means"}},
            },
        ],
    }
    interval = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    rule = {"mark": {"type": "rule", "color": LINES[0]}, "encoding": {"x": x, **interval}}
    point = {
        "mark": {"type": "point", "filled": True, "size": 70, "color": LINES[0]},
        "encoding": {"x": x, "y": y},
    }
    control = {
        "mark": {"type": "point", "shape": "cross", "filled": True, "size": 60, "color": LINES[1]},
        "encoding": {"x": x, "y": {**y, "field": "control"}},
    }
    name = {
        "mark": {"type": "text", "align": "left", "dx": 8, "dy": -6, "fontSize": 11, "color": INK},
        "encoding": {"x": x, "y": y, "text": {"field": "form"}},
    }
    layers = [limits, rule, control, point, name]
    return {"width": 480, "height": 300, "data": {"values": values}, "layer": layers}
