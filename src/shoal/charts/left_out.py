"""Leave-one-out: contribution of each known variable to the breach of another (Kroes 2021, Figure 3)."""

from typing import Any

from shoal.charts.chart import Chart
from shoal.charts.colours import BREACH, FAINT
from shoal.errors import ModelError
from shoal.individuals.people import People
from shoal.individuals.variable import Variable
from shoal.words import share as share_of


def left_out(people: People, variable: str) -> Chart:
    """Draw the share of persons still breached in a variable if one of the other variables were unknown.

    >>> import shoal
    >>> people = shoal.peers({"dx": ["flu", "ms", "ms"], "sex": ["f", "f", "m"], "age": [1, 2, 2]})
    >>> left_out(people, "dx").spec["title"]["text"]
    'Without age, 33.3% instead of 100% of dx would be disclosed'
    """
    whole = _share(people, people.variable(variable))
    shares = {unknown: _share(people, people_known) for unknown, people_known in people.leave_one_out(variable).items()}
    if not shares:
        raise ModelError(
            "nothing-to-omit",
            "Only one variable is known about '{variable}', so none can be omitted.",
            variable=variable,
        )
    least = min(shares, key=lambda name: shares[name])
    order = sorted(shares, key=lambda name: shares[name])
    values = [
        {"unknown": name, "share": shares[name], "text": share_of(shares[name]), "inside": shares[name] > whole / 6}
        for name in order
    ]
    return Chart.of(
        f"Without {least}, {share_of(shares[least])} instead of {share_of(whole)} of {variable} would be disclosed",
        f"Share of individuals whose {variable} is disclosed if one variable is unknown; line: if all are known",
        _bars(values, order, whole),
    )


def _share(people: People, variable: Variable) -> float:
    weights = people.weights(variable)
    return float(weights[variable.least.breached(people.p)].sum() / weights.sum())


def _bars(values: list[dict[str, Any]], order: list[str], whole: float) -> dict[str, Any]:
    y = {"field": "unknown", "type": "nominal", "sort": order, "title": "unknown"}
    share = {"field": "share", "type": "quantitative", "title": "disclosed", "axis": {"format": "%"}}
    x = {**share, "scale": {"domain": [0, max(whole * 1.12, 0.01)]}}
    return {
        "width": 480,
        "height": {"step": 26},
        "layer": [
            {"data": {"values": values}, "mark": {"type": "bar", "color": BREACH}, "encoding": {"x": x, "y": y}},
            _labels([row for row in values if row["inside"]], x, y, {"align": "right", "dx": -6, "color": "white"}),
            _labels([row for row in values if not row["inside"]], x, y, {"align": "left", "dx": 4}),
            {
                "data": {"values": [{"share": whole}]},
                "mark": {"type": "rule", "color": FAINT, "strokeDash": [4, 3]},
                "encoding": {"x": x},
            },
        ],
    }


def _labels(values: list[dict[str, Any]], x: dict[str, Any], y: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    return {
        "data": {"values": values},
        "mark": {"type": "text", **how},
        "encoding": {"x": x, "y": y, "text": {"field": "text"}},
    }
