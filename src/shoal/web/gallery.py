"""Charts of the pages. Each is drawn once, on request, and has an address derived from its content."""

import hashlib
import threading
from collections import OrderedDict

from shoal.charts.chart import Chart

KEPT = 96


class Gallery:
    """Cache of the most recently shown charts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[str, Chart | str] = OrderedDict()

    def hang(self, chart: Chart) -> str:
        """Add a chart and return its address."""
        name = hashlib.sha256(chart.to_json().encode()).hexdigest()[:24]
        with self._lock:
            self._held.setdefault(name, chart)
            self._held.move_to_end(name)
            while len(self._held) > KEPT:
                self._held.popitem(last=False)
        return f"/picture/{name}.svg"

    def drawn(self, name: str) -> str | None:
        """Return a chart as SVG, or None if it is not in the cache."""
        with self._lock:
            chart = self._held.get(name)
        if not isinstance(chart, Chart):
            return chart
        svg = chart.to_svg()
        with self._lock:
            if name in self._held:
                self._held[name] = svg
        return svg
