"""Techniques side by side: what they cost, and how many individuals are still re-identified."""

from typing import Any

from shoal.analyses.technique_comparison import TechniqueComparison
from shoal.charts.chart import Chart
from shoal.charts.colours import INK, LINES
from shoal.errors import ModelError
from shoal.words import share, short


def techniques(comparison: TechniqueComparison) -> Chart:
    """Draw the error of each technique and the share of re-identified individuals, with the upper end of its interval.

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns.age = "quasi"
    ... require = [{ model = "k-anonymity", k = 2 }]
    ... ''')
    >>> found = shoal.compare_techniques({"age": [31, 32, 33, 51, 52, 53] * 20}, policy)
    >>> techniques(found).spec["title"]["text"].partition(": ")[0]
    'Smallest error'
    """
    values = [
        {
            "technique": each.title,
            "error": each.error,
            "linked": each.linked.value,
            "high": each.linked.high,
            "values": "true" if each.is_true else "false",
        }
        for each in comparison.figures
        if each.error is not None
    ]
    if not values:
        raise ModelError("nothing-to-draw", "The error of no technique is known, because no known column is a number.")
    best = min(values, key=lambda value: value["error"])
    title = (
        f"Smallest error: {best['technique']} ({short(best['error'])}); {share(best['linked'])} of the individuals are "
        "re-identified"
    )
    subtitle = (
        "Each point: a technique; line: up to the upper end of the 95% interval. Lower and further left is better"
    )
    return Chart.of(title, subtitle, _body(values))


def _body(values: list[dict[str, Any]]) -> dict[str, Any]:
    x = {"field": "error", "type": "quantitative", "title": "error (√2 standard deviations)"}
    y = {"field": "linked", "type": "quantitative", "title": "re-identified", "axis": {"format": ".1~%"}}
    colours = {"domain": ["true", "false"], "range": [LINES[0], LINES[1]]}
    legend = {"title": "released values", "orient": "top", "direction": "horizontal"}
    colour = {"field": "values", "type": "nominal", "scale": colours, "legend": legend}
    rule = {"mark": "rule", "encoding": {"x": x, "y": y, "y2": {"field": "high"}, "color": colour}}
    point = {"mark": {"type": "point", "filled": True, "size": 60}, "encoding": {"x": x, "y": y, "color": colour}}
    name = {
        "mark": {"type": "text", "align": "left", "dx": 7, "dy": -5, "fontSize": 10, "color": INK},
        "encoding": {"x": x, "y": y, "text": {"field": "technique"}},
    }
    return {"width": 480, "height": 300, "data": {"values": values}, "layer": [rule, point, name]}
