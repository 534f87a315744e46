"""Entropy curve: information loss against suppression, generic and conventional (Prasser 2016, Figure 4)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.charts.chart import Chart
from shoal.charts.colours import LINES
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.qualities.nue import NonUniformEntropy
from shoal.qualities.nue_conventional import ConventionalNonUniformEntropy
from shoal.recoding.recoding import Recoding
from shoal.table.table import Table
from shoal.words import short

SHARES = tuple(step / 20 for step in range(21))


@dataclass(frozen=True, slots=True)
class EntropyPoint:
    """Cost of a scheme with a share of suppressed records, by both measures."""

    scheme: str
    suppressed: float
    generic: float
    conventional: float


def curve(
    table: Table,
    hierarchies: Mapping[str, Hierarchy],
    schemes: Mapping[str, Mapping[str, int]],
    shares: Sequence[float] = SHARES,
) -> list[EntropyPoint]:
    """Measure the information loss of schemes for increasing shares of suppressed records.

    Of n records, those with i · 7919 mod n < share · n (rounded) are suppressed.

    >>> import shoal
    >>> from shoal.hierarchy.interval import Interval
    >>> from shoal.hierarchy.spec import bind
    >>> table = shoal.read({"age": [31, 34, 38, 71]})
    >>> points = curve(table, {"age": bind(Interval(widths=[10]), table, "age")}, {"tens": {"age": 1}}, [0, 1])
    >>> [(round(point.generic, 3), round(point.conventional, 3)) for point in points]
    [(0.594, 0.594), (1.0, 1.0)]
    """
    size = table.records
    order = np.arange(size) * 7919 % size
    points = []
    for name, scheme in schemes.items():
        for share in shares:
            recoding = Recoding.of_records(table, hierarchies, scheme, order < math.floor(share * size + 0.5))
            costs = (kind().measure(recoding).total for kind in (NonUniformEntropy, ConventionalNonUniformEntropy))
            points.append(EntropyPoint(name, share, *(0.0 if cost is None else cost.cost for cost in costs)))
    return points


def entropy_curve(points: Sequence[EntropyPoint]) -> Chart:
    """Draw both measures against the share of suppressed records.

    >>> entropy_curve([EntropyPoint("low", 0.0, 0.2, 0.2), EntropyPoint("low", 0.5, 0.6, -0.1)]).spec["title"]["text"]
    'Conventional entropy falls with suppression, down to -0.1; generic entropy rises linearly'
    """
    begin = {point.scheme: point.conventional for point in points if point.suppressed == 0}
    gains = any(point.conventional < begin.get(point.scheme, 0.0) for point in points)
    lowest = min(point.conventional for point in points)
    title = f"Conventional entropy falls with suppression, down to {short(lowest)}; generic entropy rises linearly"
    values = [
        {"scheme": point.scheme, "suppressed": point.suppressed, "measure": measure, "cost": cost}
        for point in points
        for measure, cost in (("generic", point.generic), ("conventional", point.conventional))
    ]
    return Chart.of(
        title if gains else "Conventional and generic entropy both rise with suppression",
        "Information loss (0 = no loss, 1 = total); solid: generic, dashed: conventional",
        {
            "width": 460,
            "height": 340,
            "data": {"values": values},
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {
                "x": {
                    "field": "suppressed",
                    "type": "quantitative",
                    "title": "suppressed records",
                    "axis": {"format": "%"},
                },
                "y": {"field": "cost", "type": "quantitative", "title": "information loss", "axis": {"format": "%"}},
                "color": {
                    "field": "scheme",
                    "type": "nominal",
                    "title": "generalisation",
                    "sort": None,
                    "scale": {"range": list(LINES)},
                },
                "strokeDash": {
                    "field": "measure",
                    "type": "nominal",
                    "title": "entropy",
                    "sort": None,
                    "scale": {"domain": ["generic", "conventional"], "range": [[1, 0], [5, 4]]},
                },
            },
        },
    )
