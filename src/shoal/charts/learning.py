"""Predictive performance of models trained on the original and on releases."""

from collections.abc import Mapping
from typing import Any

from shoal.analyses.estimate import Estimate
from shoal.analyses.learning import Learned
from shoal.charts.chart import Chart
from shoal.charts.colours import FAINT, INK, LINES, PROTECTED
from shoal.errors import RecodingError
from shoal.words import share


def learning(by_name: Mapping[str, Learned], *, title: str | None = None) -> Chart:
    """Draw the performance of models trained on releases, by name. Band: the original; stroke: the baseline.

    For a target with two values the area under the curve is drawn; otherwise the share of correct predictions, or the
    error relative to that of predicting the mean.

    >>> import shoal
    >>> data = {"x": [*range(60)], "y": ["a"] * 30 + ["b"] * 30}
    >>> made = shoal.compare(data, data).learning("y", model="linear")
    >>> learning({"as it is": made}).spec["title"]["text"]
    'Prediction of y from the release keeps 100% of the gain over the baseline'
    """
    if not by_name:
        raise RecodingError("nothing-to-draw", "Nothing was learned, so there is nothing to draw.")
    values = [
        {"name": f"{place:02d} {name}", **_numbers("after", after), **_numbers("before", before), "baseline": guess}
        for place, (name, learned) in enumerate(by_name.items())
        for before, after, guess in [learned.achieved]
    ]
    first = next(iter(by_name.values()))
    measure = "area under the curve" if first.auc else "correct predictions" if first.measure == "accuracy" else "error"
    subtitle = "Point and line: trained on the release, with 95% CI. Band: trained on the original. Tick: baseline"
    return Chart.of(title or _title(by_name), subtitle, _body(values, measure, percent=first.auc is None))


def _title(by_name: Mapping[str, Learned]) -> str:
    """Return a title that states the worst case."""
    left = {name: _left(learned) for name, learned in by_name.items()}
    worst = min(left, key=lambda name: left[name])
    target = next(iter(by_name.values())).target
    before, _, guess = by_name[worst].achieved
    if before.low <= guess <= before.high:
        return f"Prediction of {target}: the original is hardly better than the baseline"
    kept = share(left[worst]) if left[worst] > 0 else "none"
    least = f"at least {kept} (lowest: {worst})" if len(left) > 1 else kept
    return f"Prediction of {target} from the release keeps {least} of the gain over the baseline"


def _left(learned: Learned) -> float:
    before, after, guess = learned.achieved
    return (after.value - guess) / (before.value - guess) if before.value != guess else 1.0


def _numbers(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def _body(values: list[dict[str, Any]], measure: str, *, percent: bool) -> dict[str, Any]:
    names = {"labelLimit": 320, "labelExpr": "slice(datum.label, 3)", "grid": False, "ticks": False, "offset": 8}
    y = {"field": "name", "type": "nominal", "sort": [row["name"] for row in values], "title": None, "axis": names}
    axis = {"format": ".0%" if percent else ".2f", "tickCount": 6}
    x = {"type": "quantitative", "title": measure, "axis": axis, "scale": {"zero": False, "nice": True}}
    band = {
        "mark": {"type": "bar", "color": PROTECTED[0], "height": {"band": 1}},
        "encoding": {"x": {**x, "field": "before_low"}, "x2": {"field": "before_high"}, "y": y},
    }
    line = {
        "mark": {"type": "rule", "color": LINES[0], "strokeWidth": 2},
        "encoding": {"x": {**x, "field": "after_low"}, "x2": {"field": "after_high"}, "y": y},
    }
    point = {
        "mark": {"type": "circle", "size": 60, "color": LINES[0], "opacity": 1},
        "encoding": {"x": {**x, "field": "after"}, "y": y},
    }
    guess = {
        "mark": {"type": "tick", "color": INK, "thickness": 2, "size": 14},
        "encoding": {"x": {**x, "field": "baseline"}, "y": y},
    }
    original = {
        "mark": {"type": "tick", "color": FAINT, "thickness": 1, "size": 20},
        "encoding": {"x": {**x, "field": "before"}, "y": y},
    }
    layers = [band, original, guess, line, point]
    return {"width": 420, "height": {"step": 22}, "data": {"values": values}, "layer": layers}
