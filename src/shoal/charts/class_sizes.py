"""Distribution of the class sizes."""

from typing import Any

from shoal.charts.chart import Chart
from shoal.charts.colours import BREACH, INK, PROTECTED
from shoal.risk.assessment import Assessment, Band


def class_sizes(assessment: Assessment, *, least: int | None = None) -> Chart:
    """Draw the number of persons by bands of class size, highlighting the bands below ``least``.

    ``least`` defaults to the required k, if there is one. A band is below ``least`` if its upper end is, or its
    lower end where it is open.

    >>> import shoal
    >>> made = shoal.assess({"age": [31, 31, 34, 71]}, quasi=["age"])
    >>> class_sizes(made, least=2).spec["title"]["text"]
    '2 of 4 records are in classes smaller than 2'
    """
    asked = _required(assessment) if least is None else least
    values = [
        {
            "size": _name(band),
            "persons": band.persons,
            "classes": band.classes,
            "small": asked is not None and (band.largest or band.smallest) < asked,
            "told": f"{band.persons:,}",
        }
        for band in assessment.bands
    ]
    what = "persons" if assessment.counts_persons else "records"
    title = f"The smallest class has {assessment.k:,} {what}"
    if asked is not None:
        small = sum(persons for size, persons in assessment.sizes.items() if size < asked)
        title = f"{small:,} of {assessment.persons:,} {what} are in classes smaller than {asked:,}"
    subtitle = f"{what.capitalize()} by size of their equivalence class"
    return Chart.of(title, subtitle, _body(values, what))


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


def _body(values: list[dict[str, Any]], what: str) -> dict[str, Any]:
    names = [value["size"] for value in values]
    x = {"field": "size", "type": "nominal", "sort": names, "title": "class size", "axis": {"labelAngle": 0}}
    y = {"field": "persons", "type": "quantitative", "title": what, "axis": {"format": ",d", "tickMinStep": 1}}
    fill = {"condition": {"test": "datum.small", "value": BREACH}, "value": PROTECTED[3]}
    bar = {"mark": {"type": "bar"}, "encoding": {"x": x, "y": y, "color": fill}}
    text = {
        "mark": {"type": "text", "dy": -7, "color": INK},
        "encoding": {"x": x, "y": y, "text": {"field": "told"}},
    }
    return {"width": 420, "height": 240, "data": {"values": values}, "layer": [bar, text]}
