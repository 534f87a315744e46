"""A report as one HTML page that needs nothing else."""

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from shoal.charts.chart import Chart
from shoal.reporting.audience import Audience
from shoal.reporting.document import Section
from shoal.words import printable


def as_html(title: str, audience: Audience, sections: Sequence[Section]) -> str:
    """Return the page. Pictures are drawn if vl-convert is there; else they are told in words."""
    template = environment("shoal.reporting").get_template("report.html")
    drawn = find_spec("vl_convert") is not None
    return template.render(
        title=title, audience=audience, sections=sections, version=version("shoal"), drawn=drawn, picture=picture
    )


@cache
def environment(package: str) -> Environment:
    """Return where templates of a package are, and those of reports beside them; what they show is escaped."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("shoal.reporting")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_plain,
    )
    environment.filters["kind"] = lambda block: type(block).__name__.lower()
    return environment


def _plain(value: Any) -> Any:
    """Return text without signs that no page can show."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def picture(chart: Chart) -> str:
    """Return a picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{b64encode(chart.to_svg().encode()).decode()}"
