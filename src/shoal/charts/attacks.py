"""Success of the attacks compared with the baseline without the release."""

from typing import Any

from shoal.attacks.attack import ATTACKS
from shoal.attacks.battery import Attacked
from shoal.charts.chart import Chart
from shoal.charts.colours import FAINT, INK, LINES
from shoal.errors import AttackError
from shoal.words import share

MOST = 40  # maximum number of results drawn


def attacks(attacked: Attacked) -> Chart:
    """Draw the success of each attack with its interval, baseline and control, in descending order of gain.

    Attacks that do not count towards a risk of WP216 come last.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "dx": ["flu", "ms", "flu", "flu"]}
    >>> coarse = {"age": ["30-39", "30-39", "70-79", "70-79"], "dx": ["flu", "ms", "flu", "flu"]}
    >>> made = shoal.attack(data, coarse, quasi=["age"], sensitive=["dx"], attacks=["homogeneity"])
    >>> attacks(made).spec["title"]["text"]
    'Largest gain over the baseline: homogeneity of dx, 50% against 37.5%'
    """
    if not attacked.results:
        raise AttackError("nothing-to-draw", "No attack could be run, so there is nothing to draw.")
    shown = sorted(attacked.results, key=lambda result: (bool(ATTACKS[result.attack].off_card), -result.lift))[:MOST]
    values = [
        {
            "attack": f"{place:02d} {result.title}",
            "success": result.success.value,
            "low": result.success.low,
            "high": result.success.high,
            "baseline": result.baseline,
            "control": None if result.control is None else result.control.value,
        }
        for place, result in enumerate(shown, 1)
    ]
    best = max(shown, key=lambda result: result.success.value - result.baseline)
    title = f"Largest gain over the baseline: {best.title}, {share(best.success.value)} against {share(best.baseline)}"
    subtitle = "Point and line: success with 95% confidence interval. Vertical line: baseline. Ring: control group"
    return Chart.of(title, subtitle, _body(values))


def _body(values: list[dict[str, Any]]) -> dict[str, Any]:
    axis = {"labelLimit": 320, "labelExpr": "slice(datum.label, 3)", "grid": False, "ticks": False, "offset": 8}
    y = {"field": "attack", "type": "nominal", "sort": [row["attack"] for row in values], "title": None, "axis": axis}
    scale = {"domain": [0, 1]}
    x = {
        "field": "success",
        "type": "quantitative",
        "title": "success",
        "axis": {"format": "%", "tickCount": 5},
        "scale": scale,
    }
    line = {
        "mark": {"type": "rule", "color": LINES[0], "strokeWidth": 2},
        "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y},
    }
    point = {"mark": {"type": "circle", "size": 60, "color": LINES[0], "opacity": 1}, "encoding": {"x": x, "y": y}}
    stroke = {
        "mark": {"type": "tick", "color": INK, "thickness": 2, "size": 14},
        "encoding": {"x": {**x, "field": "baseline"}, "y": y},
    }
    ring = {
        "transform": [{"filter": "isValid(datum.control)"}],
        "mark": {"type": "point", "size": 60, "color": FAINT},
        "encoding": {"x": {**x, "field": "control"}, "y": y},
    }
    return {"width": 420, "height": {"step": 20}, "data": {"values": values}, "layer": [stroke, line, ring, point]}
