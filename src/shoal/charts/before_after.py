"""Distribution of a column in the original, and as implied by a release."""

from typing import Any

import numpy as np

from shoal.charts.chart import Chart
from shoal.charts.colours import BREACH, PROTECTED
from shoal.qualities.implied import implied, observed
from shoal.recoding.nodes import Fate, Floats
from shoal.recoding.recoding import Recoded
from shoal.table.kind import Kind
from shoal.words import share as share_of

BARS = 24  # maximum number of intervals or categories
FEW = 5  # categories with fewer records are not named


def before_after(recoded: Recoded) -> Chart:
    """Draw the shares of the values in the original, and as implied by the release.

    A released set of values counts evenly towards each of its values.

    >>> import shoal
    >>> found = shoal.compare({"age": [31, 34, 34, 71]}, {"age": ["30-39", "30-39", "30-39", "*"]})
    >>> before_after(found.recoding["age"]).spec["title"]["text"]
    'age: 0% of the original cells unchanged, 75% generalised, 25% suppressed'
    """
    bars = _texts(recoded) if recoded.domain.positions is None else _numbers(recoded)
    size = int(recoded.counts.sum())
    kept, coarser, lost, changed = (recoded.records(fate) / size for fate in Fate)
    same, generalised, suppressed = map(share_of, (kept, coarser, lost))
    title = (
        f"{recoded.name}: {same} of the original cells unchanged, {generalised} generalised, {suppressed} suppressed"
    )
    return Chart.of(
        title + (f", {share_of(changed)} changed" if changed else ""),
        "Bars: share of records in the original. Marks: share in the release, if all values of a generalised cell "
        "are equally probable",
        _body(recoded, bars),
    )


def _numbers(recoded: Recoded) -> list[dict[str, Any]]:
    """Group numbers and dates into intervals of equal width. A released interval is spread evenly over its range."""
    low, high = recoded.domain.ends
    places = recoded.domain.positions
    if places is None or np.isnan(low):
        return []
    known = ~np.isnan(places)
    number = min(BARS, int(known.sum()))
    edges = np.linspace(low, high if high > low else low + 1, number + 1)
    at = np.clip(np.searchsorted(edges, places[known], "right") - 1, 0, number - 1)
    before = np.bincount(at, observed(recoded)[known], number)
    return [
        {"value": float(left), "end": float(right), "before": float(was), "after": float(two)}
        for left, right, was, two in zip(edges, edges[1:], before, _spread(recoded, edges), strict=False)
    ]


def _spread(recoded: Recoded, edges: Floats) -> Floats:
    """Return the share of each interval of the chart, as implied by the cells that are not suppressed."""
    nodes = recoded.nodes
    speaking = ~nodes.lost & ~np.isnan(nodes.low) & (recoded.node_counts > 0)
    low = np.clip(nodes.low[speaking], edges[0], edges[-1])[:, None]
    high = np.clip(nodes.high[speaking], edges[0], edges[-1])[:, None]
    counts = recoded.node_counts[speaking]
    with np.errstate(divide="ignore", invalid="ignore"):
        below = np.where(high > low, np.clip((edges - low) / (high - low), 0, 1), (edges > low).astype(float))
    below[:, -1] = 1
    sums: Floats = (counts[:, None] * np.diff(below, axis=1)).sum(axis=0)
    return sums / counts.sum() if len(counts) else sums


def _texts(recoded: Recoded) -> list[dict[str, Any]]:
    """Return the most frequent categories, with the others combined."""
    before, after = observed(recoded), implied(recoded, lost=False)
    after = np.zeros(len(before)) if after is None else after
    labels = [label if label is not None else "(missing)" for label in recoded.domain.column.labels().to_pylist()]
    order = np.argsort(-before, kind="stable")
    shown = order[: min(BARS, int(np.count_nonzero(recoded.original >= FEW)))]
    bars = [{"value": labels[code], "before": float(before[code]), "after": float(after[code])} for code in shown]
    rest = order[len(shown) :]
    if len(rest):
        name = f"{len(rest):,} others"
        bars.append({"value": name, "before": float(before[rest].sum()), "after": float(after[rest].sum())})
    return bars


def _body(recoded: Recoded, bars: list[dict[str, Any]]) -> dict[str, Any]:
    share = {"type": "quantitative", "axis": {"format": "%"}, "title": "share of records"}
    tooltip = [{"field": "before", "format": ".1%"}, {"field": "after", "format": ".1%"}]
    if recoded.domain.positions is not None:
        return _along_scale(recoded, bars, share, tooltip)
    down = {"field": "value", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 220}}
    layers = [
        {"mark": {"type": "bar", "color": PROTECTED[1]}, "encoding": {"x": {"field": "before", **share}}},
        {"mark": {"type": "tick", "color": BREACH, "thickness": 3}, "encoding": {"x": {"field": "after", **share}}},
    ]
    encoding = {"y": down, "tooltip": tooltip}
    return {"width": 420, "height": {"step": 18}, "data": {"values": bars}, "encoding": encoding, "layer": layers}


def _along_scale(
    recoded: Recoded, bars: list[dict[str, Any]], share: dict[str, Any], tooltip: list[dict[str, str]]
) -> dict[str, Any]:
    """Draw intervals of numbers, or of days, which Vega-Lite counts in milliseconds."""
    days = recoded.domain.column.kind in {Kind.DATE, Kind.DATETIME}
    unit = 86_400_000 if days else 1
    bars = [{**bar, "value": bar["value"] * unit, "end": bar["end"] * unit} for bar in bars]
    across = {
        "field": "value",
        "type": "temporal" if days else "quantitative",
        "title": recoded.name,
        "scale": {"zero": False, "nice": False},
    }
    ends = {"x": across, "x2": {"field": "end"}, "tooltip": tooltip}
    bar = {"type": "rect", "color": PROTECTED[1], "stroke": "white"}
    line = {"type": "rule", "color": BREACH, "strokeWidth": 2}
    layers = [
        {"mark": bar, "encoding": {"y": {"field": "before", **share, "scale": {"zero": True}}, "y2": {"datum": 0}}},
        {"mark": line, "encoding": {"y": {"field": "after", **share}}},
    ]
    return {"width": 520, "height": 220, "data": {"values": bars}, "encoding": ends, "layer": layers}
