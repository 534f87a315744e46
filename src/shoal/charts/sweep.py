"""Sweep: privacy against information loss for every partition of a variable (Kroes 2021, Figure 4)."""

from typing import Any

from shoal.charts.chart import Chart
from shoal.charts.colours import BREACH, PROTECTED
from shoal.individuals.sweep import Sweep
from shoal.words import share


def sweep(swept: Sweep) -> Chart:
    """Draw the partitions of the paper as points, and the optimal partitions as a line.

    >>> import shoal
    >>> people = shoal.peers({"age": [20, 21, 50, 51], "dx": ["flu", "ms", "flu", "ms"]}, sensitive="dx")
    >>> sweep(people.sweep("age", "dx")).spec["title"]["text"]
    'Generalising age protects up to 100% in dx; unchanged, 0% are protected'
    """
    shares = [step.partition.share for step in swept.equal_width] + [partition.share for partition in swept.curve]
    untouched = next((partition.share for partition in reversed(swept.best) if partition is not None), 0.0)
    points = [
        {"loss": step.partition.loss, "share": step.partition.share, "classes": len(step.partition.intervals)}
        for step in swept.equal_width
    ]
    best = [
        {"loss": partition.loss, "share": partition.share, "classes": len(partition.intervals)}
        for partition in swept.curve
    ]
    return Chart.of(
        f"Generalising {swept.variable} protects up to {share(max(shares))} in {swept.sensitive}; unchanged, "
        f"{share(untouched)} are protected",
        "Points: intervals of equal width at every offset. Line: Pareto front of protection and loss",
        {
            "hconcat": [
                _panel(points, best, "loss", "loss: mean interval width"),
                _panel(
                    [{**point, "loss": point["classes"]} for point in points],
                    [
                        {"loss": number, "share": partition.share, "classes": number}
                        for number, partition in enumerate(swept.best, 1)
                        if partition is not None
                    ],
                    "loss",
                    "number of intervals",
                ),
            ],
            "spacing": 40,
        },
    )


def _panel(points: list[dict[str, Any]], best: list[dict[str, Any]], field: str, title: str) -> dict[str, Any]:
    x = {"field": field, "type": "quantitative", "title": title, "axis": {"grid": False}}
    y = {
        "field": "share",
        "type": "quantitative",
        "title": "protected individuals",
        "axis": {"format": "%"},
        "scale": {"domain": [0, 1]},
    }
    tooltip = [{"field": "classes", "title": "classes"}, {"field": "share", "format": ".1%", "title": "protected"}]
    return {
        "width": 380,
        "height": 320,
        "layer": [
            {
                "data": {"values": points},
                "mark": {"type": "point", "color": PROTECTED[3], "opacity": 0.6, "size": 28},
                "encoding": {"x": x, "y": y, "tooltip": tooltip},
            },
            {
                "data": {"values": best},
                "mark": {"type": "line", "color": BREACH, "strokeWidth": 2, "point": {"size": 16, "color": BREACH}},
                "encoding": {"x": x, "y": y, "tooltip": tooltip},
            },
        ],
    }
