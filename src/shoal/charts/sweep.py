"""The sweep: privacy against loss, for every way to cut a variable (Kroes 2021, Figure 4)."""

from typing import Any

from shoal.charts.chart import Chart
from shoal.charts.colours import BREACH, PROTECTED
from shoal.individuals.sweep import Sweep


def sweep(swept: Sweep) -> Chart:
    """Draw the paper's partitions as points, and the best that can be had as a line.

    >>> import shoal
    >>> people = shoal.peers({"age": [20, 21, 50, 51], "dx": ["flu", "ms", "flu", "ms"]}, sensitive="dx")
    >>> sweep(people.sweep("age", "dx")).spec["title"]["text"]
    'Cutting age protects up to 100.0% in dx; untouched, 0.0% are protected'
    """
    shares = [one.partition.share for one in swept.equal_width] + [one.share for one in swept.curve]
    untouched = next((one.share for one in reversed(swept.best) if one is not None), 0.0)
    points = [
        {"loss": one.partition.loss, "share": one.partition.share, "classes": len(one.partition.intervals)}
        for one in swept.equal_width
    ]
    best = [{"loss": one.loss, "share": one.share, "classes": len(one.intervals)} for one in swept.curve]
    return Chart.of(
        f"Cutting {swept.variable} protects up to {max(shares):.1%} in {swept.sensitive}; untouched, {untouched:.1%} "
        "are protected",
        "Points: classes of equal width, at every offset. Line: nothing protects as many with less loss",
        {
            "hconcat": [
                _panel(points, best, "loss", "loss: mean width of a person's class"),
                _panel(
                    [{**one, "loss": one["classes"]} for one in points],
                    [
                        {"loss": number, "share": one.share, "classes": number}
                        for number, one in enumerate(swept.best, 1)
                        if one is not None
                    ],
                    "loss",
                    "number of classes",
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
        "title": "persons protected",
        "axis": {"format": "%"},
        "scale": {"domain": [0, 1]},
    }
    told = [{"field": "classes", "title": "classes"}, {"field": "share", "format": ".1%", "title": "protected"}]
    return {
        "width": 380,
        "height": 320,
        "layer": [
            {
                "data": {"values": points},
                "mark": {"type": "point", "color": PROTECTED[3], "opacity": 0.6, "size": 28},
                "encoding": {"x": x, "y": y, "tooltip": told},
            },
            {
                "data": {"values": best},
                "mark": {"type": "line", "color": BREACH, "strokeWidth": 2, "point": {"size": 16, "color": BREACH}},
                "encoding": {"x": x, "y": y, "tooltip": told},
            },
        ],
    }
