"""Clickable regions of a chart. They lie over the marks and request the objects that the marks represent."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

from shoal.charts.chart import Chart
from shoal.reporting.document import Figure

_REACH = 9  # half the side of the clickable square around a point


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of a chart, in the units of the chart."""

    x: float
    y: float
    width: float
    height: float

    def sliced(self, number: int) -> "list[Region]":
        """Divide the rectangle into vertical slices of equal width, from left to right.

        >>> [box.x for box in Region(10, 0, 100, 5).sliced(4)]
        [10.0, 35.0, 60.0, 85.0]
        """
        width = self.width / number
        return [Region(self.x + place * width, self.y, width, self.height) for place in range(number)]


@dataclass(frozen=True, slots=True)
class Spot:
    """A clickable region.

    ``asks``: the requested address. ``says``: the description of the request. ``sends``: the data sent with it, if any.
    """

    box: Region
    asks: str
    says: str
    sends: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spotted:
    """A chart with clickable regions. ``target``: the part of the page that shows the response."""

    chart: Chart
    width: float
    height: float
    spots: tuple[Spot, ...]
    target: str

    @classmethod
    def of(cls, chart: Chart, target: str, place: "Callable[[Marks], Sequence[Spot]]") -> "Spotted":
        """Draw a chart and locate its clickable regions."""
        marks = Marks(ET.fromstring(chart.to_svg()))  # noqa: S314 - the SVG is drawn here, not received
        return cls(chart, *marks.size, tuple(place(marks)), target)

    @property
    def alternative(self) -> str:
        """Text alternative of the chart."""
        return Figure(self.chart).alternative


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of a chart drawn as SVG."""

    root: ET.Element

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the chart."""
        return float(self.root.get("width", 0)), float(self.root.get("height", 0))

    def points(self) -> list[Region]:
        """Return the regions of the points, in the order of the data."""
        return [Region(x - _REACH, y - _REACH, 2 * _REACH, 2 * _REACH) for _, x, y in self._of_kind("symbol")]

    def images(self) -> list[Region]:
        """Return the regions of the raster images."""
        return [
            Region(x, y, float(element.get("width", 0)), float(element.get("height", 0)))
            for element, x, y in self._of_kind("image")
        ]

    def _of_kind(self, kind: str) -> Iterator[tuple[ET.Element, float, float]]:
        yield from _walk(self.root, 0.0, 0.0, f"mark-{kind} role-mark")


def _walk(element: ET.Element, x: float, y: float, wanted: str) -> Iterator[tuple[ET.Element, float, float]]:
    """Yield the marks in groups of a given class, each with its absolute position.

    The translations of nested groups add up.
    """
    moved = _moved(element)
    x, y = x + moved[0], y + moved[1]
    for part in element:
        if str(element.get("class", "")).startswith(wanted):
            here = _moved(part)
            yield part, x + here[0], y + here[1]
        else:
            yield from _walk(part, x, y, wanted)


def _moved(element: ET.Element) -> tuple[float, float]:
    shift = re.match(r"translate\(([-\d.e]+)[ ,]+([-\d.e]+)\)", element.get("transform", ""))
    return (float(shift[1]), float(shift[2])) if shift else (0.0, 0.0)
