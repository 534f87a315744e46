"""Who reads a report: the owner of the data, or others, to whom small numbers are not told."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.disclosure import hidden, hides
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
    def smallest(self) -> int:
        """The smallest number of persons that is told."""
        return self.least if self.external else 1

    def count(self, number: int) -> str:
        """Write a number of persons."""
        return blurred(number, self.smallest)

    def share(self, part: int, whole: int) -> str:
        """Write a share of so many persons; neither part is told if one of them is too small."""
        if not whole:
            return "–"
        if self.hides(part):
            return f"fewer than {self.smallest}"
        return f"all but fewer than {self.smallest}" if self.hides(whole - part) else f"{part / whole:.1%}"

    def odds(self, risk: float) -> str:
        """Write a risk; to others in whole numbers."""
        return odds(1 / round(1 / risk)) if self.external and 0 < risk < 0.5 else odds(risk)

    def asked(self, demand: str) -> str:
        """Write what is asked for; to others only its numbers, for lists and texts may name values.

        >>> Audience(external=True, least=11).asked("alpha ≤ 0.5, k ≥ 11, values = flu, gout")
        'alpha ≤ 0.5, k ≥ 11'
        """
        if not self.external:
            return demand
        return ", ".join(part for part in demand.split(", ") if re.fullmatch(r"\w+ \S+ [\d./]+%?", part))

    def hides(self, number: int) -> bool:
        """Tell whether a number of persons is not to be told."""
        return hides(number, self.smallest)

    def hidden(self, counts: Sequence[int] | NDArray[np.integer]) -> NDArray[np.bool_]:
        """Tell which of some numbers, whose sum is known, are not to be told."""
        return hidden(counts, self.smallest)
