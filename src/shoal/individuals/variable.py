"""A variable taken as sensitive: how it is protected, for every row."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.individuals.protection import Protection
from shoal.kernels.subsets import NONE, Breaches


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """One variable taken as sensitive; arrays hold one number for each row of the counts.

    ``least``: the protection under the combination that tells most. ``full``: if all is known. ``others``: how many
    other values are considered possible, at least, of ``domain − 1``, missing being one of them; None where that is
    not measured.
    ``smallest``: how many facts it takes to breach, or ``NONE``; beyond ``deepest`` only that it takes more.
    ``telling``: how many combinations breach, where all were looked at. ``breaches``: also how many of these are
    minimal, where all were counted. ``at_least``: what PPP certainly is, where a search was stopped.
    """

    name: str
    known: tuple[str, ...]
    domain: int
    least: Protection
    full: Protection
    others: NDArray[np.int64] | None
    smallest: NDArray[np.uint8]
    combinations: int
    deepest: int = NONE
    telling: NDArray[np.int64] | None = None
    breaches: Breaches | None = None
    at_least: NDArray[np.float64] | None = None

    def facts(self, size: int) -> str:
        """Write a number of facts; where it was not found out exactly, that it is more than so many."""
        return str(size) if size <= self.deepest else f">{self.deepest}"

    def poac(self) -> NDArray[np.float64] | None:
        """Return the proportion of alternatives considered; a variable with one value has none to consider."""
        return None if self.others is None else self.others / max(self.domain - 1, 1)
