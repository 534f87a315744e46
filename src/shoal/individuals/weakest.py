"""Weakest protection: the minimum over combinations of known variables that are evaluated one at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ModelError
from shoal.individuals.protection import Protection
from shoal.individuals.variable import Variable
from shoal.kernels.subsets import NONE
from shoal.subsets import SubsetCounts


@dataclass(slots=True, eq=False)
class Weakest:
    """The weakest protection of a variable so far, row by row, over combinations added in order of size.

    ``smallest``: the smallest number of known variables that breaches, or ``NONE``. ``telling``: the number of
    breaching combinations.
    """

    name: str
    p: Fraction
    combinations: int = 0
    _least: Protection = field(init=False)
    _smallest: NDArray[np.uint8] = field(init=False)
    _telling: NDArray[np.int64] = field(init=False)

    def add(self, here: Protection, subset: int) -> None:
        """Add the protection under one more combination."""
        breached = here.breached(self.p)
        if not self.combinations:
            self._least, self._telling = here, np.zeros(len(breached), np.int64)
            self._smallest = np.full(len(breached), NONE, np.uint8)
        self._least = weaker(self._least, here)
        self._smallest[breached & (self._smallest == NONE)] = subset.bit_count()
        self._telling += breached
        self.combinations += 1

    def variable(
        self, counted: SubsetCounts, known: Sequence[str], full: Protection, others: NDArray[np.int64] | None
    ) -> Variable:
        """Return the evaluated variable; ``full``, ``others``: as in a variable."""
        check_inferable(self.name, self.combinations)
        return Variable(
            name=self.name,
            known=tuple(known),
            domain=counted.columns[counted.names.index(self.name)].size,
            least=self._least,
            full=full,
            others=others,
            smallest=self._smallest,
            combinations=self.combinations,
            telling=self._telling,
        )


def check_inferable(name: str, combinations: int) -> None:
    """Refuse a variable that is a member of every combination."""
    if not combinations:
        raise ModelError(
            "variable-always-known",
            "Every given combination contains '{variable}', so it cannot be inferred.",
            remedy="Give other combinations, or remove it from the sensitive variables.",
            variable=name,
        )


def weaker(protection: Protection, other: Protection, *, fewer_peers: bool = False) -> Protection:
    """Return, row by row, the protection with the larger share of peers who have the same sensitive value.

    Of equal shares, the first is returned, or that with ``fewer_peers``.
    """
    mine, others = protection.same * other.peers, other.same * protection.peers
    better = others > mine
    if fewer_peers:
        better |= (others == mine) & (other.peers < protection.peers) & (other.same > 0)
    return Protection(
        protection.variable,
        np.where(better, other.subset, protection.subset),
        np.where(better, other.peers, protection.peers),
        np.where(better, other.same, protection.same),
    )
