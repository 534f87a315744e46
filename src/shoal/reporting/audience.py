"""Who reads a report: the owner of the data, or others, to whom small numbers are not told."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.charts.chart import Chart
from shoal.disclosure import enclosing, hidden, hides
from shoal.models.model import Verdict
from shoal.words import blurred, odds


@dataclass(frozen=True, slots=True)
class Audience:
    """``external``: others read it. ``least``: they are told of no fewer persons than this, unless of none at all.

    >>> owner, others = Audience(external=False, least=11), Audience(external=True, least=11)
    >>> owner.count(3), others.count(3), others.share(3, 5000), others.share(50, 5000)
    ('3', 'fewer than 11', 'fewer than 11', '1.0%')
    >>> others.share(4995, 5000), others.share(5000, 5000)
    ('all but fewer than 11', '100.0%')
    """

    external: bool
    least: int

    @property
    def told(self) -> int:
        """The smallest number of persons that is told."""
        return self.least if self.external else 1

    def count(self, number: int) -> str:
        """Write a number of persons."""
        return blurred(number, self.told)

    def share(self, part: int, whole: int) -> str:
        """Write a share of so many persons; neither part is told if one of them is too small."""
        if not whole:
            return "–"
        if self.hides(part):
            return f"fewer than {self.told}"
        return f"all but fewer than {self.told}" if self.hides(whole - part) else f"{part / whole:.1%}"

    def odds(self, risk: float) -> str:
        """Write a risk; to others in whole numbers."""
        return odds(1 / round(1 / risk)) if self.external and 0 < risk < 0.5 else odds(risk)

    def attained(self, verdict: Verdict) -> str:
        """Write what a table attains: numbers of persons, and shares of them, not more exactly than may be told."""
        if not self.external:
            return verdict.attained
        return ", ".join(f"{name} = {self._number(value)}" for name, value in verdict.value.items()) or "–"

    def asked(self, demand: str) -> str:
        """Write what is asked for; to others only its numbers, for lists and texts may name values.

        >>> Audience(external=True, least=11).asked("alpha ≤ 0.5, k ≥ 11, values = flu, gout")
        'alpha ≤ 0.5, k ≥ 11'
        """
        if not self.external:
            return demand
        return ", ".join(part for part in demand.split(", ") if re.fullmatch(r"\w+ \S+ [\d./]+", part))

    def _number(self, value: Any) -> str:
        return self.count(value) if isinstance(value, int) else f"{float(value):.2f}"

    def cost(self, cost: float, whole: int) -> tuple[float, float]:
        """Return between what a cost is: to others so widely that too few of the whole to be told do not show in it."""
        return enclosing(cost, whole, self.told) if self.external else (cost, cost)

    def write_cost(self, cost: float, whole: int) -> str:
        """Write a cost; to others as an interval that holds it.

        >>> owner, others = Audience(external=False, least=11), Audience(external=True, least=11)
        >>> owner.write_cost(0.2396, 200), others.write_cost(0.2396, 200)
        ('0.240', '0.22–0.28')
        """
        if not self.external:
            return f"{cost:.3f}"
        low, high = self.cost(cost, whole)
        return f"{math.floor(100 * low + 1e-9) / 100:.2f}–{math.ceil(100 * high - 1e-9) / 100:.2f}"

    def chart(self, chart: Chart, *, vague: bool = False) -> Chart:
        """Return a picture; to others with no more digits than can be seen, or in whole per cent."""
        return Chart(_rounded(chart.spec, 2 if vague else 3)) if self.external else chart

    def hides(self, number: int) -> bool:
        """Tell whether a number of persons is not to be told."""
        return hides(number, self.told)

    def hidden(self, counts: Sequence[int] | NDArray[np.integer]) -> NDArray[np.bool_]:
        """Tell which of some numbers, whose sum is known, are not to be told."""
        return hidden(counts, self.told)


def _rounded(held: Any, digits: int) -> Any:
    """Round all numbers in something to so many decimals; with two, also per cent in its texts."""
    if isinstance(held, dict):
        return {name: one if name in {"config", "scale"} else _rounded(one, digits) for name, one in held.items()}
    if isinstance(held, list | tuple):
        return [_rounded(one, digits) for one in held]
    if isinstance(held, str) and digits == 2:
        return re.sub(r"\d+\.\d+(?=\s?%)", lambda found: f"{float(found[0]):.0f}", held)
    return round(held, digits) if isinstance(held, float) else held
