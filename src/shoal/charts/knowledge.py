"""What an attack achieves, the more the adversary knows."""

from typing import Any

from shoal.attacks.result import Result
from shoal.charts.chart import Chart
from shoal.charts.colours import FAINT, LINES
from shoal.errors import AttackError


def knowledge(result: Result) -> Chart:
    """Draw the curve of one attack: its success with intervals, and what can be had without the release.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "sex": list("ffmm")}
    >>> made = shoal.attack(data, data, quasi=["age", "sex"], attacks=["linkage"], in_order=True)
    >>> knowledge(made.results[0]).spec["title"]["text"]
    'linkage: 100.0% at most, without the release 25.0%'
    """
    if not result.curve:
        raise AttackError("This attack has no curve.")
    values = [
        {
            "at": point.at,
            "success": point.success.value,
            "low": point.success.low,
            "high": point.success.high,
            "baseline": point.baseline,
        }
        for point in result.curve
    ]
    best = max(result.curve, key=lambda point: point.success.value)
    about = f" of {result.column}" if result.column else ""
    title = f"{result.attack}{about}: {best.success.value:.1%} at most, without the release {best.baseline:.1%}"
    return Chart.of(title, f"Success: {result.says}; grey: without the release", _body(values, result.axis))


def _body(values: list[dict[str, Any]], axis: str) -> dict[str, Any]:
    x = {"field": "at", "type": "quantitative", "title": axis, "axis": {"grid": False, "tickCount": 6}}
    y = {"type": "quantitative", "title": "success", "axis": {"format": "%"}, "scale": {"domain": [0, 1]}}
    band = {
        "mark": {"type": "area", "opacity": 0.2, "color": LINES[0]},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
    }
    curve = {
        "mark": {"type": "line", "color": LINES[0], "point": {"color": LINES[0]}},
        "encoding": {"x": x, "y": {**y, "field": "success"}},
    }
    plain = {
        "mark": {"type": "line", "color": FAINT, "strokeDash": [4, 3]},
        "encoding": {"x": x, "y": {**y, "field": "baseline"}},
    }
    return {"width": 420, "height": 240, "data": {"values": values}, "layer": [band, plain, curve]}
