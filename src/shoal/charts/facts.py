"""Disclosure curve: share of individuals breached by one, two, three, … known variables."""

from typing import Any

import numpy as np

from shoal.charts.chart import Chart
from shoal.charts.colours import LINES
from shoal.individuals.people import People
from shoal.kernels.subsets import NONE
from shoal.words import share as share_of

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])  # colours repeat with another dash pattern


def facts(people: People) -> Chart:
    """Draw the share of breached individuals by the maximum number of known variables, one line per variable.

    >>> import shoal
    >>> chart = facts(shoal.peers({"dx": ["flu", "ms", "ms"], "sex": ["f", "m", "m"], "age": [1, 1, 2]}))
    >>> chart.spec["title"]["text"]
    'One known attribute discloses dx of 3 of 3 individuals'
    """
    curves = {name: _curve(people, name) for name in people.variables}
    worst = max(curves, key=lambda name: (curves[name][0][1], curves[name][-1][1]))
    (_, share), persons = curves[worst][0], _asked(people)
    known, end = curves[worst][-1]
    title = (
        f"No single attribute discloses a value; up to {known} do, for {share_of(end)} of the individuals in {worst}"
    )
    if share > 0:
        title = f"One known attribute discloses {worst} of {round(share * persons):,} of {persons:,} individuals"
    elif end == 0:
        title = f"No value is disclosed by up to {known} known attributes"
    values = [
        {"variable": name, "known": known, "share": part} for name, curve in curves.items() for known, part in curve
    ]
    ends = [{"variable": name, "known": curve[-1][0], "share": curve[-1][1]} for name, curve in curves.items()]
    return Chart.of(
        title,
        "Individuals whose value is disclosed by some combination of at most n known variables",
        _lines(values, _apart(ends), list(curves)),
    )


def _asked(people: People) -> int:
    sampled = people.sampled()
    return people.persons() if sampled is None else sampled


def _curve(people: People, name: str) -> list[tuple[int, float]]:
    """Return the share of individuals breached by at most 1, 2, … known variables, up to the number evaluated."""
    variable = people.variable(name)
    weights = people.weights(variable)
    sizes = np.bincount(variable.smallest, weights=weights, minlength=NONE + 1)
    last = min(len(variable.known), people.question.most or NONE, variable.deepest)
    reached = np.cumsum(sizes[: last + 1]) / weights.sum()
    return [(known, float(reached[known])) for known in range(0 if people.question.empty else 1, last + 1)]


def _apart(ends: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Move overlapping labels at the ends of the lines apart."""
    step = min(0.045, 1 / len(ends))
    up = sorted(ends, key=lambda end: end["share"])
    labels: list[float] = []
    for row in up:
        labels.append(max(row["share"], labels[-1] + step if labels else 0.0))
    for place in reversed(range(len(labels))):  # move labels above the top back down
        labels[place] = min(labels[place], 1 - step * (len(labels) - 1 - place))
    return [{**row, "label": label} for row, label in zip(up, labels, strict=True)]


def _told_apart(names: list[str], by: list[Any]) -> dict[str, Any]:
    return {"field": "variable", "type": "nominal", "legend": None, "scale": {"domain": names, "range": by}}


def _lines(values: list[dict[str, Any]], ends: list[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    colour = _told_apart(names, [LINES[place % len(LINES)] for place in range(len(names))])
    stroke = _told_apart(names, [DASHES[place // len(LINES) % len(DASHES)] for place in range(len(names))])
    last = max(row["known"] for row in values)
    x = {
        "field": "known",
        "type": "quantitative",
        "title": "known variables",
        "axis": {"values": list(range(last + 1)), "format": "d", "grid": False},
        "scale": {
            "domain": [min(1, last) if last > 1 else last - 0.5, last if last > 1 else last + 0.5],
            "nice": False,
        },
    }
    y = {"type": "quantitative", "title": "disclosed", "axis": {"format": "%"}}
    scale = {"domain": [0, 1], "nice": False}
    return {
        "width": 560,
        "height": 340,
        "layer": [
            {
                "data": {"values": values},
                "mark": {"type": "line", "point": {"size": 30}, "strokeWidth": 2},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "share", "scale": scale},
                    "color": colour,
                    "strokeDash": stroke,
                },
            },
            {
                "data": {"values": ends},
                "mark": {"type": "text", "align": "left", "dx": 8},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "label", "scale": scale},
                    "text": {"field": "variable"},
                    "color": colour,
                },
            },
        ],
    }
