"""The question of an evaluation: the assumed background knowledge, and the criterion of a breach."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from shoal.subsets import subsets_of

MOST_EVENTS = 5  # maximum number of known events


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """The parameters of an evaluation of all persons and variables.

    ``p``: a person is breached if the share of protective peers is at most p. ``q``: per variable, a value is an
    alternative if more than this share of the peers have it. ``most``: the maximum number of known variables.
    ``empty``: whether to include the empty combination, without any knowledge. ``combinations``: evaluate only these,
    each given as bits. ``sampled``: the number of sampled persons for each row of the counts; None if all are
    evaluated. ``seconds``: the time limit of a search.
    """

    p: Fraction
    q: Mapping[str, Fraction]
    most: int | None = None
    empty: bool = False
    combinations: tuple[int, ...] | None = None
    sampled: NDArray[np.int64] | None = None
    seconds: float | None = None
    events: int = 1

    def subsets(self, known: int) -> Iterator[int]:
        """Yield the combinations of known variables to evaluate."""
        if self.combinations is None:
            yield from subsets_of(known, most=self.most, empty=self.empty)
        else:
            yield from (combination for combination in self.combinations if not combination & ~known)

    def number(self, known: int) -> int:
        """Return the number of combinations to evaluate, without listing them.

        >>> Question(Fraction(0), {}, most=3).number((1 << 50) - 1)
        20875
        """
        if self.combinations is not None:
            return sum(1 for _ in self.subsets(known))
        width = known.bit_count()
        deepest = width if self.most is None else min(self.most, width)
        return sum(comb(width, size) for size in range(0 if self.empty else 1, deepest + 1))
