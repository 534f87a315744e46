"""Distribution of the re-identification risk, in one or several tables."""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Any

from shoal.charts.chart import Chart
from shoal.charts.colours import BREACH, FAINT, INK, PROTECTED
from shoal.errors import ModelError
from shoal.risk.assessment import Assessment
from shoal.words import blurred
from shoal.words import share as share_of

_NAMED = (1, 2, 5, *(number * 10**power for power in range(1, 8) for number in (1, 3)))  # ticks at risks of 1 in n


def risks(assessments: Mapping[str, Assessment], threshold: Fraction | float, *, least: int = 1) -> Chart:
    """Draw the number of persons by re-identification risk (1 / class size), one row per table.

    Each bar covers a factor of two, starting from the threshold in both directions, so that every bar lies either above
    the threshold or not. ``least``: bars with fewer persons are merged with their neighbours; if there is no neighbour,
    the number is not disclosed.

    >>> import shoal
    >>> risks({"before": shoal.assess({"age": [31, 31, 34, 71]}, quasi=["age"])}, 0.5).spec["title"]["text"]
    'before: 2 of 4 records have a risk above 50%'
    """
    limit = Fraction(threshold).limit_denominator(10**6)
    if not assessments or not 0 < limit <= 1:
        raise ModelError("nothing-to-draw", "A chart of risks requires a table, and a threshold above 0 and at most 1.")
    values, subtitles = [], []
    for name, assessment in assessments.items():
        bars: dict[int, int] = {}
        for size, persons in assessment.sizes.items():
            place = _place(size, limit)
            bars[place] = bars.get(place, 0) + persons
        above = sum(persons for place, persons in bars.items() if place >= 0)
        who = "individuals" if assessment.counts_persons else "records"
        subtitles.append(f"{blurred(above, least)} of {assessment.persons:,} {who} have a risk above {_risk(limit)}")
        for side in (range(-64, 0), range(64)):
            values += [_bar(name, *bar, limit, least) for bar in _together(bars, side, least)]
    titles = [f"{name}: {subtitle}" for name, subtitle in zip(assessments, subtitles, strict=True)]
    subtitle = "Risk: 1 / class size. Each bar covers a factor of two"
    who = "individuals" if any(assessment.counts_persons for assessment in assessments.values()) else "records"
    return Chart.of(titles[-1], [*titles[:-1], subtitle], _body(values, list(assessments), limit, who))


def _place(size: int, limit: Fraction) -> int:
    """Return the bar of a risk of 1 / size.

    Bar 0 covers risks above the limit, up to twice the limit. Bar −1 covers risks above half the limit, up to the
    limit.

    >>> [_place(size, Fraction(1, 11)) for size in (1, 5, 6, 10, 11, 21, 22)]
    [3, 1, 0, 0, -1, -1, -2]
    """
    times = size * limit  # ratio of the limit to the risk
    return -int(times).bit_length() if times >= 1 else (ceil(1 / times) - 1).bit_length() - 1


def _risk(share: Fraction) -> str:
    return f"1 in {1 / share}" if share.numerator == 1 and share < Fraction(1, 2) else share_of(float(share))


def _together(bars: Mapping[int, int], side: range, least: int) -> list[tuple[int, int, int]]:
    """Merge the bars of one side until each has at least ``least`` persons, if possible.

    Each merged bar is returned as its first place, its last place and its number of persons.

    >>> _together({-3: 4, -2: 20, -1: 3}, range(-64, 0), 10)
    [(-3, -1, 27)]
    >>> _together({-3: 4, -2: 2, -1: 30}, range(-64, 0), 10)
    [(-3, -1, 36)]
    """
    near = [(place, bars[place]) for place in side if place in bars]
    groups: list[tuple[int, int, int]] = []
    for place, persons in near:
        if groups and groups[-1][2] < least:
            first, _, before = groups.pop()
            groups.append((first, place, before + persons))
        else:
            groups.append((place, place, persons))
    if len(groups) > 1 and groups[-1][2] < least:
        (first, _, before), (_, last, persons) = groups[-2:]
        groups[-2:] = [(first, last, before + persons)]
    return groups


def _bar(name: str, first: int, last: int, persons: int, limit: Fraction, least: int) -> dict[str, Any]:  # noqa: PLR0913, PLR0917 - a bar
    low, high = float(limit) * 2.0**first, min(float(limit) * 2.0 ** (last + 1), 1.0)
    hidden = 0 < persons < least
    return {
        "table": name,
        "low": low,
        "high": high,
        "persons": least if hidden else persons,
        "above": first >= 0,
        "told": blurred(persons, least),
    }


def _body(values: list[dict[str, Any]], names: list[str], limit: Fraction, who: str) -> dict[str, Any]:
    named = [1 / number for number in _NAMED if 1 / number >= min(value["low"] for value in values)]
    label = "datum.value < 0.9 ? '1 in ' + format(1 / datum.value, ',.0f') : 'certain'"
    axis = {"grid": False, "values": named, "labelExpr": label}
    x = {"field": "low", "type": "quantitative", "title": "risk", "scale": {"type": "log", "nice": False}, "axis": axis}
    count = {"format": ",d", "tickMinStep": 1}
    y = {"field": "persons", "type": "quantitative", "title": who, "axis": count, "stack": None}
    fill = {"condition": {"test": "datum.above", "value": BREACH}, "value": PROTECTED[3]}
    bar = {
        "mark": {"type": "rect", "stroke": "white"},
        "encoding": {"x": x, "x2": {"field": "high"}, "y": y, "y2": {"datum": 0}, "color": fill},
    }
    text = {
        "transform": [{"calculate": "sqrt(datum.low * datum.high)", "as": "middle"}],
        "mark": {"type": "text", "dy": -7, "color": INK},
        "encoding": {"x": {**x, "field": "middle"}, "y": y, "text": {"field": "told"}},
    }
    line = {
        "mark": {"type": "rule", "color": FAINT, "strokeDash": [4, 3], "strokeWidth": 1.5},
        "encoding": {"x": {"datum": float(limit)}},
    }
    header = {"labelAngle": 0, "labelAlign": "left", "labelOrient": "top", "labelAnchor": "start"}
    header |= {"labelFontSize": 12, "labelPadding": 14, "labelFontWeight": "bold"}
    row = {"field": "table", "type": "nominal", "sort": names, "title": None, "header": header}
    return {
        "data": {"values": values},
        "facet": {"row": row},
        "spec": {"width": 480, "height": 150, "layer": [bar, line, text]},
    }
