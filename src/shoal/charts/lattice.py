"""Lattice of generalisation schemes, with the cost of each and the schemes that meet the requirements."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.charts.chart import Chart
from shoal.charts.colours import BREACH, FAINT, PROTECTED
from shoal.search.schemes import Schemes
from shoal.words import short

MOST, LINES_MOST = 600, 200  # maximum number of schemes drawn, and of schemes drawn with edges
_WIDTH, _LETTER = 600, 5  # width of the chart and of a letter, in pixels


def lattice(schemes: Schemes) -> Chart:
    """Draw the schemes by the sum of their levels: darker if they cost less, ringed if they meet the requirements.

    Of a large lattice, the minimal schemes that meet the requirements (no scheme one level lower does), the best scheme
    and its neighbours are drawn.

    >>> import shoal
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
    ... require = [{ model = "k-anonymity", k = 2 }]
    ... ''')
    >>> lattice(shoal.schemes({"age": [31, 34, 71, 78]}, policy)).spec["title"]["text"]
    'Best of 3 schemes: information loss 0.333; 2 meet the requirements'
    """
    shown = np.arange(len(schemes)) if len(schemes) <= MOST else _near(schemes)
    meets, levels = schemes.meets, schemes.levels.sum(axis=1)
    values = [
        {
            "id": int(place),
            "level": int(levels[place]),
            "x": x,
            "cost": float(schemes.prices[place]),
            "meets": bool(meets[place]),
            "best": int(place) == schemes.best,
            "scheme": " ".join(map(str, schemes.levels[place])),
        }
        for place, x in zip(shown.tolist(), _across(schemes, shown, levels), strict=True)
    ]
    if schemes.best is None:
        title = f"None of {len(schemes):,} schemes meets the requirements"
    else:
        number = int(np.count_nonzero(meets))
        verb = "meets" if number == 1 else "meet"
        cost = schemes.prices[schemes.best]
        title = f"Best of {len(schemes):,} schemes: information loss {short(cost)}; {number:,} {verb} the requirements"
    subtitle = [
        f"Upwards: more general. Dark: low loss ({schemes.quality}). Ringed: meets the requirements. Orange: best"
    ]
    subtitle.append(f"A scheme is named by the levels of {', '.join(schemes.names)}")
    if len(shown) < len(schemes):
        subtitle.append(
            f"{len(shown):,} schemes are shown: the finest that meet the requirements, and the neighbours of the best"
        )
    return Chart.of(title, subtitle, _body(values, _lines(schemes, shown, values)))


def _near(schemes: Schemes) -> NDArray[np.intp]:
    """Return the cheapest minimal schemes that meet the requirements, and the neighbours of the best scheme.

    If no scheme meets the requirements, return those with the fewest suppressed persons.
    """
    finest = np.flatnonzero(schemes.finest())
    if not len(finest):  # no scheme meets the requirements: show the nearest
        return np.argsort(schemes.suppressed, kind="stable")[: MOST // 2]
    finest = finest[np.argsort(schemes.prices[finest], kind="stable")][: MOST // 2]
    beside = np.zeros(0, np.intp)
    if schemes.best is not None:
        apart = np.abs(schemes.levels - schemes.levels[schemes.best]).sum(axis=1)
        beside = np.flatnonzero(apart <= 1)
    return np.union1d(finest, beside)


def _across(schemes: Schemes, shown: NDArray[np.intp], levels: NDArray[np.integer]) -> list[float]:
    """Return the horizontal position of each scheme in its row: sorted by levels and centred."""
    rows = levels[shown]
    places = np.zeros(len(shown))
    for row in np.unique(rows):
        here = np.flatnonzero(rows == row)
        here = here[np.lexsort(schemes.levels[shown[here]].T[::-1])]
        places[here] = np.arange(len(here)) - (len(here) - 1) / 2
    return [float(place) for place in places]


def _lines(schemes: Schemes, shown: NDArray[np.intp], values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the edges between neighbouring schemes, or none if there are too many schemes."""
    if len(shown) > LINES_MOST:
        return []
    at = {tuple(schemes.levels[place].tolist()): value for place, value in zip(shown, values, strict=True)}
    lines = []
    for levels, value in at.items():
        for column in range(len(levels)):
            other = at.get((*levels[:column], levels[column] + 1, *levels[column + 1 :]))
            if other is not None:
                lines.append({"x": value["x"], "level": value["level"], "x2": other["x"], "level2": other["level"]})
    return lines


def _body(values: list[dict[str, Any]], lines: list[dict[str, Any]]) -> dict[str, Any]:
    wide = max(abs(value["x"]) for value in values) + 1
    named = _LETTER * len(values[0]["scheme"]) < _WIDTH / (2 * wide)  # whether all names fit
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": {"domain": [-wide, wide]}}
    axis = {"tickMinStep": 1, "format": "d", "grid": False}
    y = {"field": "level", "type": "quantitative", "title": "levels in total", "axis": axis}
    y["scale"] = {"zero": False, "nice": False, "padding": 16}
    cost = {
        "field": "cost",
        "type": "quantitative",
        "scale": {"range": list(PROTECTED[::-1])},
        "legend": {"title": "cost", "format": ".2f"},
    }
    edge = {
        "data": {"values": lines},
        "mark": {"type": "rule", "color": "#d3d8de", "strokeWidth": 0.8},
        "encoding": {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "level2"}},
    }
    ring = {
        "condition": [{"test": "datum.best", "value": BREACH}, {"test": "datum.meets", "value": "#1f2933"}],
        "value": "#ffffff",
    }
    size = {"condition": {"test": "datum.best", "value": 190}, "value": 90}
    tooltip = [{"field": "scheme"}, {"field": "cost", "format": ".4f"}, {"field": "meets"}]
    wider = {"condition": {"test": "datum.best", "value": 3}, "value": 1.4}
    node = {
        "mark": {"type": "point", "filled": True, "opacity": 1},
        "encoding": {
            "x": x,
            "y": y,
            "fill": cost,
            "stroke": ring,
            "size": size,
            "strokeWidth": wider,
            "tooltip": tooltip,
        },
    }
    name = {
        "transform": [] if named else [{"filter": "datum.best"}],
        "mark": {"type": "text", "dy": 14, "fontSize": 8.5, "color": FAINT},
        "encoding": {"x": x, "y": y, "text": {"field": "scheme"}},
    }
    rows = len({value["level"] for value in values})
    return {
        "width": _WIDTH,
        "height": max(120, min(46 * rows, 560)),
        "data": {"values": values},
        "layer": [*([edge] if lines else []), node, name],
    }
