"""Survival curves before and after anonymisation."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.analyses.survival import Curve, Curves
from shoal.charts.chart import Chart
from shoal.charts.colours import LINES
from shoal.errors import RecodingError

MOST = 6  # maximum number of distinguishable groups


def survival(curves: Sequence[Curves], *, title: str | None = None) -> Chart:
    """Draw Kaplan–Meier curves, one colour per group: the original with its 95% interval, and the release, dashed.

    >>> import shoal
    >>> data = {"days": [1, 2, 3, 4], "died": [1, 0, 1, 1]}
    >>> made = shoal.compare(data, {**data, "days": ["1-2", "1-2", "3", "4"]}).survival("days", "died")
    >>> survival(made).spec["title"]["text"]
    'Largest difference of the survival curves: 25.0 percentage points'
    """
    if not curves:
        raise RecodingError("nothing-to-draw", "There is no survival curve to draw.")
    shown = list(curves)[:MOST]
    gaps = [curve.largest_gap for curve in shown if curve.largest_gap is not None]
    default_title = (
        f"Largest difference of the survival curves: {100 * max(gaps):.1f} percentage points"
        if gaps
        else "No individual is left to follow"
    )
    lost = [curve.group for curve in shown if curve.after is None]
    subtitle = "Line and band: original with 95% interval. Dashed: release"
    if len(curves) > len(shown):
        subtitle += f". {len(curves) - len(shown)} more groups are not shown"
    if lost:
        subtitle += f". Of {len(lost)} group{'s' if len(lost) > 1 else ''} the release has no individual"
    values = [value for curve in shown for value in _points(curve)]
    return Chart.of(title or default_title, subtitle, _body(values, [curve.group for curve in shown]))


def _points(curves: Curves) -> list[dict[str, Any]]:
    before = _steps(curves.before, curves.group, "before")
    return before if curves.after is None else [*before, *_steps(curves.after, curves.group, "after")]


def _steps(curve: Curve, group: str, when: str) -> list[dict[str, Any]]:
    """Return the points of a curve, which starts at time 0 with a share of 1."""
    parts = ((0.0, curve.times), (1.0, curve.shares), (1.0, curve.low), (1.0, curve.high))
    times, shares, low, high = (np.concatenate([[first], part]).tolist() for first, part in parts)
    return [
        {"group": group, "when": when, "time": at, "share": share, "low": below, "high": above}
        for at, share, below, above in zip(times, shares, low, high, strict=True)
    ]


def _body(values: list[dict[str, Any]], groups: list[str]) -> dict[str, Any]:
    x = {"field": "time", "type": "quantitative", "title": "time", "axis": {"grid": False}}
    scale = {"domain": [0, 1]}
    y = {"field": "share", "type": "quantitative", "title": "surviving", "axis": {"format": "%"}, "scale": scale}
    colours = {"domain": groups, "range": list(LINES[: len(groups)])}
    legend = {"title": None, "orient": "top"} if len(groups) > 1 else None
    colour = {"field": "group", "type": "nominal", "scale": colours, "legend": legend}
    dashes = {"domain": ["before", "after"], "range": [[1, 0], [6, 4]]}
    dash = {"field": "when", "type": "nominal", "legend": None, "scale": dashes}
    band = {
        "transform": [{"filter": "datum.when == 'before'"}],
        "mark": {"type": "area", "opacity": 0.15, "interpolate": "step-after"},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour},
    }
    line = {
        "mark": {"type": "line", "interpolate": "step-after"},
        "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash},
    }
    return {"width": 480, "height": 280, "data": {"values": values}, "layer": [band, line]}
