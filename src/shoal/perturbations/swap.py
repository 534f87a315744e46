"""Rank swapping: values are exchanged between persons with similar values."""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.kernels.siphash import Words, siphash
from shoal.perturbations.assigned import Assigned
from shoal.perturbations.column_values import ColumnValues
from shoal.perturbations.perturbation import ORDERED, PERTURBATIONS, Perturbation
from shoal.table.kind import Kind
from shoal.techniques.change import Drawn

Ranks = NDArray[np.int64]


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
    zeros: bool = Field(default=True, title="Keep zeros", description="whether zeros stay: they often mean none")
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
        window = int(np.floor(self.share * len(ranked) + 1e-9))
        if not window:
            raise values.nothing_to_draw("the window contains no other individual")
        swapped = codes.copy()
        swapped[ranked] = codes[ranked[partners(draws.words[ranked], window)]]
        return Drawn(values.column, Assigned.of(draws, swapped))


def partners(words: Words, window: int) -> Ranks:
    """Return a partner for each rank, at most ``window`` ranks apart; ranks without a free partner keep their own.

    In each round, every free rank proposes to a random free rank of its window. A pair is formed if its random number
    is the smallest among all proposals to or from either of them. ``words``: a random word for each rank.

    >>> pairs = partners(np.arange(8, dtype=np.uint64), 2)
    >>> (pairs[pairs] == np.arange(8)).all(), np.abs(pairs - np.arange(8)).max()
    (np.True_, np.int64(2))
    """
    pairs: Ranks = np.arange(len(words), dtype=np.int64)
    free: Ranks = pairs.copy()
    turn = 0
    while True:
        first, last = np.searchsorted(free, free - window), np.searchsorted(free, free + window, "right")
        able = np.flatnonzero(last - first > 1)
        if not len(able):
            return pairs
        free, turn = _paired(pairs, free, able, (first, last), siphash((turn, 1), [words[free]])), turn + 1


def _paired(pairs: Ranks, free: Ranks, able: Ranks, within: tuple[Ranks, Ranks], drawn: Words) -> Ranks:
    """Form pairs in one round, and return the ranks that remain free.

    ``able``: the places among the free ranks that have others ``within`` their window.
    """
    first, last = (ends[able] for ends in within)
    choice = drawn[able]
    chosen = first + (choice % (last - first - 1).astype(np.uint64)).astype(np.int64)
    chosen += chosen >= able  # nobody proposes to oneself
    smallest = np.full(len(free), np.iinfo(np.uint64).max)
    smallest[able] = choice
    np.minimum.at(smallest, chosen, choice)
    formed = (smallest[able] == choice) & (smallest[chosen] == choice)
    one, other = free[able[formed]], free[chosen[formed]]
    pairs[one], pairs[other] = other, one
    left = np.ones(len(free), bool)
    left[able[formed]] = left[chosen[formed]] = False
    return free[left]
