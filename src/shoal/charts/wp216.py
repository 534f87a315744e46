"""The card of WP216: three questions, each answered by what the best attack achieves."""

from typing import Any

from shoal.attacks.attack import ATTACKS
from shoal.attacks.battery import Attacked
from shoal.attacks.result import Criterion, Result
from shoal.charts.chart import Chart
from shoal.charts.colours import BREACH, FAINT, INK, PROTECTED

QUESTIONS = {
    Criterion.SINGLING_OUT: "Can somebody be singled out?",
    Criterion.LINKABILITY: "Can records of the same person be linked?",
    Criterion.INFERENCE: "Can something be inferred about somebody?",
}


def wp216(attacked: Attacked) -> Chart:
    """Draw for each of the three questions how much the best attack gains over its baseline and its control.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "dx": ["flu", "ms", "flu", "flu"]}
    >>> made = shoal.attack(data, data, quasi=["age"], sensitive=["dx"], in_order=True, attacks=["linkage"])
    >>> wp216(made).spec["title"]["text"]
    'WP216: 1 of 3 questions is answered yes, 0 no, 2 not at all'
    """
    values = [_answer(question, best) for question, best in attacked.card().items()]
    number = {kind: sum(value["kind"] == kind for value in values) for kind in ("yes", "no", "open")}
    verb = "is" if number["yes"] == 1 else "are"
    title = f"WP216: {number['yes']} of 3 questions {verb} answered yes, {number['no']} no, {number['open']} not at all"
    subtitle = "Bar: the share that the best attack gains over baseline and control. No: its interval holds one of them"
    return Chart.of(title, subtitle, _body(values))


def _answer(question: Criterion, best: Result | None) -> dict[str, Any]:
    asked = QUESTIONS[question]
    if best is None:
        return {"question": asked, "lift": 0.0, "kind": "open", "says": "nothing was tried"}
    success, without = best.success, ATTACKS[best.attack].without
    interval = f"({success.low:.1%} – {success.high:.1%})"
    return {
        "question": asked,
        "lift": max(best.gain, 0.0),
        "kind": "yes" if best.is_sure else "no",
        "says": f"{best.title}: {success.value:.1%} {interval}, {without} {best.baseline:.1%}{_strangers(best)}",
    }


def _strangers(best: Result) -> str:
    return "" if best.control is None else f", of people not in the data {best.control.value:.1%}"


def _body(values: list[dict[str, Any]]) -> dict[str, Any]:
    rows = [value["question"] for value in values]
    y = {"field": "question", "type": "nominal", "sort": rows, "title": None, "axis": None}
    axis = {"format": "%", "tickCount": 6}
    x = {"field": "lift", "type": "quantitative", "title": "gain over baseline and control", "axis": axis}
    x["scale"] = {"domain": [0, 1]}
    colours = {"domain": ["yes", "no", "open"], "range": [BREACH, PROTECTED[3], FAINT]}
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
