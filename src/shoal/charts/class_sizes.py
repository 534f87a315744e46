"""Distribution of the class sizes."""

from collections.abc import Iterator, Mapping
from typing import Any

from shoal.charts.chart import Chart
from shoal.charts.colours import BREACH, INK, PROTECTED
from shoal.risk.assessment import Assessment, Band


def class_sizes(assessment: Assessment, *, least: int | None = None, name: str = "") -> Chart:
    """Draw the number of persons by bands of class size, highlighting those in classes smaller than ``least``.

    ``least`` defaults to the required k, if there is one. ``name``: the name of the table in the title.

    >>> import shoal
    >>> made = shoal.assess({"age": [31, 31, 34, 71]}, quasi=["age"])
    >>> class_sizes(made, least=2).spec["title"]["text"]
    '2 of 4 records are in classes smaller than 2'
    """
    asked = _required(assessment) if least is None else least
    what = "individuals" if assessment.counts_persons else "records"
    title = f"The smallest class has {assessment.k:,} {what}"
    if asked is not None:
        small = sum(persons for size, persons in assessment.sizes.items() if size < asked)
        title = f"{small:,} of {assessment.persons:,} {what} are in classes smaller than {asked:,}"
    title = f"{name}: {title[:1].lower()}{title[1:]}" if name else title
    subtitle = f"{what.capitalize()} by size of their equivalence class"
    bars = [bar for band in assessment.bands for bar in _bars(band, assessment.sizes, asked)]
    labels = [{"size": _name(band), "persons": band.persons, "label": f"{band.persons:,}"} for band in assessment.bands]
    return Chart.of(title, subtitle, _body(bars, labels, what))


def _bars(band: Band, sizes: Mapping[int, int], asked: int | None) -> Iterator[dict[str, Any]]:
    """Yield the parts of a bar: persons in classes smaller than the requirement, and the others."""
    within = {size: persons for size, persons in sizes.items() if band.smallest <= size <= (band.largest or size)}
    small = sum(persons for size, persons in within.items() if asked is not None and size < asked)
    if small:
        yield {"size": _name(band), "persons": small, "small": True}
    if not small or small < band.persons:
        yield {"size": _name(band), "persons": band.persons - small, "small": False}


def _required(assessment: Assessment) -> int | None:
    asked = [
        requirement.verdict.parameters["k"]
        for requirement in assessment.requirements
        if requirement.verdict.model == "k-anonymity" and requirement.verdict.parameters.get("k") is not None
    ]
    return int(max(asked)) if asked else None


def _name(band: Band) -> str:
    if band.largest is None:
        return f"{band.smallest}+"
    return str(band.smallest) if band.smallest == band.largest else f"{band.smallest}–{band.largest}"


def _body(bars: list[dict[str, Any]], labels: list[dict[str, Any]], what: str) -> dict[str, Any]:
    names = [label["size"] for label in labels]
    x = {"field": "size", "type": "nominal", "sort": names, "title": "class size", "axis": {"labelAngle": 0}}
    y = {"field": "persons", "type": "quantitative", "title": what, "axis": {"format": ",d", "tickMinStep": 1}}
    fill = {"condition": {"test": "datum.small", "value": BREACH}, "value": PROTECTED[3]}
    order = {"field": "small", "type": "nominal", "sort": "descending"}
    bar = {
        "data": {"values": bars},
        "mark": {"type": "bar"},
        "encoding": {"x": x, "y": y, "color": fill, "order": order},
    }
    text = {
        "data": {"values": labels},
        "mark": {"type": "text", "dy": -7, "color": INK},
        "encoding": {"x": x, "y": y, "text": {"field": "label"}},
    }
    return {"width": 420, "height": 240, "layer": [bar, text]}
