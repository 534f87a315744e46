"""Share of unique individuals as a function of the number of known columns."""

from shoal.charts.chart import Chart
from shoal.charts.colours import LINES
from shoal.errors import ModelError
from shoal.identification.identification import Identification
from shoal.remedy import Option
from shoal.words import share as share_of

_HALF = 0.5


def known_columns(identification: Identification) -> Chart:
    """Draw the share of unique individuals by the number of known columns, averaged over all choices of columns.

    >>> import shoal
    >>> chart = known_columns(shoal.identify({"age": [30, 31, 32, 32], "sex": ["f", "f", "f", "m"]}))
    >>> chart.spec["title"]["text"]
    'With 2 columns known, 100% of the individuals are unique'
    """
    parts = identification.contribution
    if parts is None:
        raise ModelError("not-computed", "Column combinations were not counted.", remedy=Option("combinations", True))
    values = [{"known": known, "share": share} for known, share in enumerate(parts.by_number)]
    half = next((known for known, share in enumerate(parts.by_number) if share >= _HALF), None)
    title = f"Even with all columns known, {share_of(parts.total)} of the individuals are unique"
    if half is not None:
        title = f"With {half} columns known, {share_of(parts.by_number[half])} of the individuals are unique"
    counted = "every subset of columns was counted" if parts.exact else f"estimated from {parts.orders} column orders"
    x = {
        "field": "known",
        "type": "quantitative",
        "title": "columns known",
        "axis": {"tickMinStep": 1, "format": "d", "grid": False},
    }
    y = {
        "field": "share",
        "type": "quantitative",
        "title": "unique individuals",
        "scale": {"domain": [0, 1]},
        "axis": {"format": "%"},
    }
    line = {"type": "line", "color": LINES[0], "point": {"color": LINES[0], "filled": True}}
    body = {"width": 460, "height": 260, "data": {"values": values}, "mark": line, "encoding": {"x": x, "y": y}}
    return Chart.of(title, f"Average over all choices of columns; {counted}", body)
