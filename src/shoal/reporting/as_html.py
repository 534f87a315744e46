"""Output of a report as one self-contained HTML page."""

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
    """Return the page. Charts are drawn if vl-convert is installed; otherwise their text alternatives are shown."""
    template = environment("shoal.reporting").get_template("report.html")
    drawn = find_spec("vl_convert") is not None
    return template.render(
        title=title, audience=audience, sections=sections, version=version("shoal"), drawn=drawn, picture=picture
    )


@cache
def environment(package: str) -> Environment:
    """Return the template environment of a package, which includes the report templates and escapes all output."""
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
    """Return a text without characters that cannot be displayed; other values unchanged."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def picture(chart: Chart) -> str:
    """Return a chart as a data URI."""
    return f"data:image/svg+xml;base64,{b64encode(chart.to_svg().encode()).decode()}"
