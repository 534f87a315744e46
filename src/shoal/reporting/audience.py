"""Readers of a report: the owner of the data, or external readers, to whom small counts are not disclosed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.disclosure import hidden, hides
from shoal.words import blurred, odds


@dataclass(frozen=True, slots=True)
class Audience:
    """Readers of a report.

    ``external``: whether the readers are others than the owner of the data. ``least``: the smallest number of persons,
    other than 0, that is disclosed to external readers.

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
        """The smallest number of persons that is disclosed."""
        return self.least if self.external else 1

    def count(self, number: int) -> str:
        """Format a number of persons."""
        return blurred(number, self.smallest)

    def share(self, part: int, whole: int) -> str:
        """Format a share of persons. The share is not disclosed if it or its complement comprises too few persons."""
        if not whole:
            return "–"
        if self.hides(part):
            return f"fewer than {self.smallest}"
        return f"all but fewer than {self.smallest}" if self.hides(whole - part) else f"{part / whole:.1%}"

    def odds(self, risk: float) -> str:
        """Format a risk. For external readers, a risk below 0.5 is rounded to 1 in a whole number."""
        return odds(1 / round(1 / risk)) if self.external and 0 < risk < 0.5 else odds(risk)

    def asked(self, demand: str) -> str:
        """Format the parameters of a requirement.

        External readers see numeric parameters only, because lists and texts may contain data values.

        >>> Audience(external=True, least=11).asked("alpha ≤ 0.5, k ≥ 11, values = flu, gout")
        'alpha ≤ 0.5, k ≥ 11'
        """
        if not self.external:
            return demand
        return ", ".join(part for part in demand.split(", ") if re.fullmatch(r"\w+ \S+ [\d./]+%?", part))

    def hides(self, number: int) -> bool:
        """Return whether a number of persons must not be disclosed."""
        return hides(number, self.smallest)

    def hides_share(self, share: float, whole: int) -> bool:
        """Return whether the whole, the part or the rest are too few persons for a share to be published."""
        part = round(share * whole)
        return any(self.hides(number) for number in (whole, part, whole - part))

    def hidden(self, counts: Sequence[int] | NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which of several counts with a known sum must not be disclosed."""
        return hidden(counts, self.smallest)
