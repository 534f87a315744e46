"""Places in a picture that can be pressed: they lie over the marks, and ask for what these stand for."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

from shoal.charts.chart import Chart
from shoal.reporting.document import Figure

_REACH = 9  # around the middle of a point


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a picture, in its own units."""

    x: float
    y: float
    width: float
    height: float

    def sliced(self, number: int) -> "list[Region]":
        """Cut it from left to right.

        >>> [box.x for box in Region(10, 0, 100, 5).sliced(4)]
        [10.0, 35.0, 60.0, 85.0]
        """
        width = self.width / number
        return [Region(self.x + place * width, self.y, width, self.height) for place in range(number)]


@dataclass(frozen=True, slots=True)
class Spot:
    """``asks``: the address that is asked for; ``says``: what for; ``sends``: what is sent there, if something is."""

    box: Region
    asks: str
    says: str
    sends: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spotted:
    """A picture with places to press. ``target``: the part of the page that shows the answer."""

    chart: Chart
    width: float
    height: float
    spots: tuple[Spot, ...]
    target: str

    @classmethod
    def of(cls, chart: Chart, target: str, place: "Callable[[Marks], Sequence[Spot]]") -> "Spotted":
        """Draw a picture, and find the places."""
        marks = Marks(ET.fromstring(chart.to_svg()))  # noqa: S314 - drawn here
        return cls(chart, *marks.size, tuple(place(marks)), target)

    @property
    def alternative(self) -> str:
        """What it shows, in words."""
        return Figure(self.chart).alternative


@dataclass(frozen=True, slots=True)
class Marks:
    """What was drawn."""

    root: ET.Element

    @property
    def size(self) -> tuple[float, float]:
        """The width and the height of the picture."""
        return float(self.root.get("width", 0)), float(self.root.get("height", 0))

    def points(self) -> list[Region]:
        """Return where the points are, in the order of the data."""
        return [Region(x - _REACH, y - _REACH, 2 * _REACH, 2 * _REACH) for _, x, y in self._of_kind("symbol")]

    def images(self) -> list[Region]:
        """Return where rasters are."""
        return [
            Region(x, y, float(element.get("width", 0)), float(element.get("height", 0)))
            for element, x, y in self._of_kind("image")
        ]

    def _of_kind(self, kind: str) -> Iterator[tuple[ET.Element, float, float]]:
        yield from _walk(self.root, 0.0, 0.0, f"mark-{kind} role-mark")


def _walk(element: ET.Element, x: float, y: float, wanted: str) -> Iterator[tuple[ET.Element, float, float]]:
    """Return the marks in groups of a class, each with its place: groups are moved, and so are those in them."""
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
