"""Rank swapping: values are exchanged between persons with similar values."""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.kernels.partners import partners
from shoal.perturbations.assigned import Assigned
from shoal.perturbations.column_values import ColumnValues
from shoal.perturbations.perturbation import ORDERED, PERTURBATIONS, Perturbation
from shoal.table.kind import Kind
from shoal.techniques.change import Drawn


@PERTURBATIONS.register("swap")
class RankSwapping(Perturbation):
    """Exchange the values of pairs of individuals whose ranks differ by at most a share of all ranks (Moore 1996).

    Pairs are drawn at random among all individuals within the window who have not been paired. The distribution of the
    column does not change. Zeros stay, unless ``zeros = false``.
    """

    kind: Literal["swap"] = "swap"
    share: float = Field(
        default=0.05,
        gt=0,
        lt=1,
        title="Window",
        description="maximum difference between the ranks of exchanged values, as a share of the number of individuals",
    )
    zeros: bool = Field(
        default=True,
        title="Keep zeros",
        description="whether zeros stay, if no value is negative: they often mean none",
    )
    says: ClassVar[str] = "Values were exchanged between individuals with similar values (rank swapping)."
    guarantee: ClassVar[str] = (
        "The distribution of the values is unchanged. No rank changes by more than the window. Each individual is "
        "counted once per value."
    )
    iso: ClassVar[str] = "permutation (rank swapping)"
    kinds: ClassVar[frozenset[Kind]] = ORDERED

    @classmethod
    def of_amount(cls, amount: float) -> tuple[Perturbation, ...]:
        """Return rank swapping with this window."""
        return (cls(share=min(amount, 0.99)),)

    def change(self, values: ColumnValues) -> Drawn:
        """Exchange values within the window."""
        draws = values.draws()
        codes = draws.codes[values.column.name]
        moving = np.flatnonzero(values.moving(zeros=self.zeros)[codes])
        ranked = moving[np.argsort(codes[moving], kind="stable")]
        if not len(ranked) or codes[ranked[0]] == codes[ranked[-1]]:
            raise values.without_difference(zeros=self.zeros)
        window = int(np.floor(self.share * len(ranked) + 1e-9))
        if not window:
            raise values.nothing_to_draw("the window contains no other individual")
        swapped = codes.copy()
        swapped[ranked] = codes[ranked[partners(draws.words[ranked], window)]]
        return Drawn(values.column, Assigned.of(draws, swapped))
