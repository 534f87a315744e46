"""Pictures of pages: each is drawn when a browser asks for it, and has an address made of what it shows."""

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass

from shoal.charts.chart import Chart
from shoal.reporting.document import Figure

KEPT = 96


@dataclass(frozen=True, slots=True)
class Hung:
    """Where a picture is, and what it shows in words."""

    address: str
    alternative: str


class Gallery:
    """The pictures that were shown last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._charts: OrderedDict[str, Chart] = OrderedDict()

    def hang(self, chart: Chart) -> Hung:
        """Take a picture."""
        name = hashlib.sha256(chart.to_json().encode()).hexdigest()[:24]
        with self._lock:
            self._charts[name] = chart
            self._charts.move_to_end(name)
            while len(self._charts) > KEPT:
                self._charts.popitem(last=False)
        return Hung(f"/picture/{name}.svg", Figure(chart).alternative)

    def find(self, name: str) -> Chart | None:
        """Return a picture."""
        with self._lock:
            return self._charts.get(name)
