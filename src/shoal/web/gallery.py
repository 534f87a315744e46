"""Pictures of pages: each is drawn when a browser asks for it, once, and has an address made of what it shows."""

import hashlib
import threading
from collections import OrderedDict

from shoal.charts.chart import Chart

KEPT = 96


class Gallery:
    """The pictures that were shown last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[str, Chart | str] = OrderedDict()

    def hang(self, chart: Chart) -> str:
        """Take a picture, and return where it is."""
        name = hashlib.sha256(chart.to_json().encode()).hexdigest()[:24]
        with self._lock:
            self._held.setdefault(name, chart)
            self._held.move_to_end(name)
            while len(self._held) > KEPT:
                self._held.popitem(last=False)
        return f"/picture/{name}.svg"

    def drawn(self, name: str) -> str | None:
        """Return a picture as it is drawn, if it hangs here."""
        with self._lock:
            chart = self._held.get(name)
        if not isinstance(chart, Chart):
            return chart
        svg = chart.to_svg()
        with self._lock:
            if name in self._held:
                self._held[name] = svg
        return svg
