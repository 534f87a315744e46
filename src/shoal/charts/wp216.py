"""The WP216 card: each of the three risks, with the result of the best attack."""

from typing import Any

from shoal.attacks.battery import Attacked
from shoal.attacks.result import Criterion, Result
from shoal.charts.chart import Chart
from shoal.charts.colours import BREACH, FAINT, INK, PROTECTED
from shoal.words import share

QUESTIONS = {
    Criterion.SINGLING_OUT: "Singling out",
    Criterion.LINKABILITY: "Linkability",
    Criterion.INFERENCE: "Inference",
}


def wp216(attacked: Attacked) -> Chart:
    """Draw the gain of the best attack over baseline and control for each of the three risks of WP216.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "dx": ["flu", "ms", "flu", "flu"]}
    >>> made = shoal.attack(data, data, quasi=["age"], sensitive=["dx"], in_order=True, attacks=["linkage"])
    >>> wp216(made).spec["title"]["text"]
    'WP216: 1 of 3 risks present (linkability)'
    """
    values = [_answer(question, best, attacked) for question, best in attacked.card().items()]
    present = [value["question"].lower() for value in values if value["kind"] == "present"]
    names = f" ({', '.join(present)})" if present else ""
    title = f"WP216: {len(present)} of 3 risks present{names}"
    subtitle = "Bar: gain of the best attack over baseline and control. Significance: 5% for all attacks together"
    return Chart.of(title, subtitle, _body(values))


def _answer(question: Criterion, best: Result | None, attacked: Attacked) -> dict[str, Any]:
    asked = QUESTIONS[question]
    if best is None:
        return {"question": asked, "lift": 0.0, "kind": "not assessed", "says": attacked.why_not_assessed(question)}
    success = best.success
    interval = f"({share(success.low)} – {share(success.high)})"
    return {
        "question": asked,
        "lift": max(best.gain, 0.0),
        "kind": "present" if best.is_sure else "not significant",
        "says": f"{best.title}: {share(success.value)} {interval}, baseline {share(best.baseline)}{_beside(best)}",
    }


def _beside(best: Result) -> str:
    """Return the success on individuals outside the data, and on the original, as far as measured."""
    control = "" if best.control is None else f", control {share(best.control.value)}"
    return control if best.ceiling is None else f"{control}, on the original {share(best.ceiling.value)}"


def _body(values: list[dict[str, Any]]) -> dict[str, Any]:
    rows = [value["question"] for value in values]
    y = {"field": "question", "type": "nominal", "sort": rows, "title": None, "axis": None}
    axis = {"format": "%", "tickCount": 6}
    x = {"field": "lift", "type": "quantitative", "title": "gain, relative to the maximum possible gain", "axis": axis}
    x["scale"] = {"domain": [0, 1]}
    colours = {"domain": ["present", "not significant", "not assessed"], "range": [BREACH, PROTECTED[3], FAINT]}
    legend = {"title": None, "orient": "top", "direction": "horizontal"}
    colour = {"field": "kind", "type": "nominal", "scale": colours, "legend": legend}
    bar = {"mark": {"type": "bar", "height": 12}, "encoding": {"x": x, "y": y, "color": colour}}
    texts = [
        {
            "mark": {"type": "text", "align": "left", "dy": dy, "color": ink, "fontWeight": weight},
            "encoding": {"x": {"value": 0}, "y": y, "text": {"field": name}},
        }
        for name, dy, ink, weight in (("question", -18, INK, "bold"), ("says", 18, FAINT, "normal"))
    ]
    return {"width": 520, "height": {"step": 64}, "data": {"values": values}, "layer": [bar, *texts]}
