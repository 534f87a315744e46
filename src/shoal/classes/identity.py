"""Identity risk: how probable it is to guess which record belongs to somebody."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.classes.classes import Classes
from shoal.classes.members import Counts
from shoal.kernels.ratios import Ratios


@dataclass(frozen=True, slots=True, eq=False)
class Identity:
    """``persons[i]`` persons could each be one of ``crowd[i]``: the chance to guess right is 1 / crowd.

    Somebody with several records is as safe as the record that fewest others look like.

    >>> import shoal
    >>> classes = Classes.of(shoal.read({"age": [34, 34, 71]}), ["age"])
    >>> risk = Identity.of(classes)
    >>> risk.maximum(), risk.average(), risk.share_above(Fraction(1, 2))
    (Fraction(1, 1), Fraction(2, 3), Fraction(1, 3))
    """

    crowd: Counts
    persons: Counts

    @classmethod
    def of(cls, classes: Classes, crowd: Counts | None = None) -> "Identity":
        """Read the risk off classes; ``crowd``: how many each member could be, if not only those in the table count."""
        crowd = classes.crowd if crowd is None else crowd
        who = classes.members.persons
        if who is None:
            return cls(crowd, classes.members.counts)
        fewest = np.full(len(who.weights), np.iinfo(np.int64).max)
        np.minimum.at(fewest, who.holders, crowd[who.rows])
        here = np.unique(who.holders)  # somebody may have suppressed records only
        return cls(fewest[here], who.weights[here])

    def maximum(self) -> Fraction:
        """Return the risk of the person who is least safe."""
        return Fraction(1, int(self.crowd.min()))

    def expected(self) -> Fraction:
        """Return how many persons are guessed right on average, if everybody is tried."""
        return Ratios(self.persons, self.crowd).sum()

    def average(self) -> Fraction:
        """Return the mean risk of a person."""
        return self.expected() / int(self.persons.sum())

    def above(self, threshold: Fraction) -> int:
        """Return how many persons have a risk of more than a threshold."""
        return int(self.persons[~Ratios(np.ones_like(self.crowd), self.crowd).at_most(threshold)].sum())

    def share_above(self, threshold: Fraction) -> Fraction:
        """Return the share of persons with a risk of more than a threshold."""
        return Fraction(self.above(threshold), int(self.persons.sum()))
