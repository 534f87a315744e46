"""Cost of one or several releases by each quality measure."""

from collections.abc import Mapping

from shoal.charts.chart import Chart
from shoal.charts.colours import LINES
from shoal.qualities.quality import Measured
from shoal.words import short


def costs(releases: Mapping[str, Mapping[str, Measured]]) -> Chart:
    """Draw the cost of each release by each quality measure (0 = no loss, 1 = total loss).

    >>> import shoal
    >>> found = shoal.compare({"x": list("abcd")}, {"x": list("abc*")})
    >>> costs({"first": found.quality}).spec["title"]["text"]
    'Information loss (measure: loss): first 0.25'
    """
    values = [
        {"release": release, "measure": name, "cost": measured.total.cost, "value": measured.total.value}
        for release, quality in releases.items()
        for name, measured in quality.items()
        if measured.total is not None
    ]
    named = [
        f"{release} {short(quality['loss'].total.cost)}"
        for release, quality in releases.items()
        if "loss" in quality and quality["loss"].total is not None
    ]
    title = f"Information loss (measure: loss): {', '.join(named)}" if named else "Information loss by measure"
    return Chart.of(
        title,
        "0 = no loss, 1 = total",
        {
            "width": 420,
            "height": {"step": 22},
            "data": {"values": values},
            "mark": {"type": "point", "filled": True, "size": 90},
            "encoding": {
                "y": {"field": "measure", "type": "nominal", "sort": None, "title": None, "axis": {"grid": True}},
                "x": {
                    "field": "cost",
                    "type": "quantitative",
                    "title": "cost",
                    "scale": {"domain": [0, 1], "clamp": True},
                },
                "color": {
                    "field": "release",
                    "type": "nominal",
                    "title": None,
                    "scale": {"range": list(LINES)},
                    "legend": None if len(releases) == 1 else {"orient": "top"},
                },
                "tooltip": [{"field": "release"}, {"field": "measure"}, {"field": "cost", "format": ".3f"}],
            },
        },
    )
