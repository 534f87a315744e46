"""A variable evaluated as sensitive, with its protection for every row."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.individuals.protection import Protection
from shoal.kernels.subsets import NONE, Breaches


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """One variable evaluated as sensitive; arrays hold one number for each row of the counts.

    ``least``: the protection under the most disclosive combination. ``full``: the protection if all variables are
    known. ``others``: the minimum number of alternative values, out of ``domain − 1``, with missing as one of them;
    None if it is not measured. ``smallest``: the smallest number of known attributes that breaches, or ``NONE``; beyond
    ``deepest``, it is only known that more are needed. ``telling``: the number of breaching combinations, if all were
    evaluated. ``breaches``: also the number of minimal ones, if all were counted. ``at_least``: a lower bound of PPP,
    if a search was stopped.
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
        """Return a number of attributes as text, as more than ``deepest`` if it is not known exactly."""
        return str(size) if size <= self.deepest else f">{self.deepest}"

    def poac(self) -> NDArray[np.float64] | None:
        """Return the proportion of alternatives considered; 0 for a variable with a single value."""
        return None if self.others is None else self.others / max(self.domain - 1, 1)
