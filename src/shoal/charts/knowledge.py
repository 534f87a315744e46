"""Success of an attack as a function of the background knowledge of the adversary."""

from typing import Any

from shoal.attacks.attack import ATTACKS
from shoal.attacks.result import Result
from shoal.charts.chart import Chart
from shoal.charts.colours import FAINT, LINES
from shoal.errors import AttackError
from shoal.words import share

_TICKS, _WIDE = 12, 20  # maximum number of labelled ticks, and maximum ratio of last to first on a linear scale


def knowledge(result: Result) -> Chart:
    """Draw the curve of an attack: its success with intervals, and the baseline without the release.

    The title gives the reported success. The curve may exceed it, for example where more than one guess is allowed.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "sex": list("ffmm")}
    >>> made = shoal.attack(data, data, quasi=["age", "sex"], attacks=["linkage"], in_order=True)
    >>> knowledge(made.results[0]).spec["title"]["text"]
    'linkage: success 100%, baseline 25%'
    """
    if not result.curve:
        raise AttackError("nothing-to-draw", "This attack has no curve.")
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
    title = f"{result.title}: success {share(result.success.value)}, baseline {share(result.baseline)}"
    subtitle = f"Success: {result.says}. Grey line: baseline ({ATTACKS[result.attack].baseline_is})"
    return Chart.of(title, subtitle, _body(values, result.axis))


def _body(values: list[dict[str, Any]], axis: str) -> dict[str, Any]:
    places = [value["at"] for value in values]
    whole = all(float(place).is_integer() for place in places)
    ticks = {"values": places} if whole and len(places) <= _TICKS else {"tickCount": 6}
    wide = whole and max(places) > _WIDE * max(min(places), 1)
    scale = {"type": "log" if wide and min(places) > 0 else "linear", "zero": False}
    axes = {"grid": False, "format": "d" if whole else ".0%", **ticks}
    x = {"field": "at", "type": "quantitative", "title": axis, "axis": axes, "scale": scale}
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
