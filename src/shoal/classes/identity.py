"""Identity risk: the probability of linking a person to the correct record."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.classes.classes import Classes
from shoal.classes.members import Counts
from shoal.kernels.ratios import Ratios


@dataclass(frozen=True, slots=True, eq=False)
class Identity:
    """Re-identification risk per group of persons.

    Each of ``persons[i]`` persons could be any one of ``crowd[i]``; the probability of re-identification is 1 / crowd.
    The risk of a person with several records is that of the record with the smallest crowd.

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
        """Derive the risk from classes.

        ``crowd``: the number of persons each member could be, if it is not limited to the persons in the table.
        """
        crowd = classes.crowd if crowd is None else crowd
        who = classes.members.persons
        if who is None:
            return cls(crowd, classes.members.counts)
        fewest = np.full(len(who.weights), np.iinfo(np.int64).max)
        np.minimum.at(fewest, who.holders, crowd[who.rows])
        here = np.unique(who.holders)  # a person may have suppressed records only
        return cls(fewest[here], who.weights[here])

    def maximum(self) -> Fraction:
        """Return the highest risk of any person."""
        return Fraction(1, int(self.crowd.min()))

    def expected(self) -> Fraction:
        """Return the expected number of re-identifications if all persons are targeted."""
        return Ratios(self.persons, self.crowd).sum()

    def average(self) -> Fraction:
        """Return the mean risk per person."""
        return self.expected() / int(self.persons.sum())

    def above(self, threshold: Fraction) -> int:
        """Return the number of persons whose risk exceeds a threshold."""
        return int(self.persons[~Ratios(np.ones_like(self.crowd), self.crowd).at_most(threshold)].sum())

    def share_above(self, threshold: Fraction) -> Fraction:
        """Return the share of persons whose risk exceeds a threshold."""
        return Fraction(self.above(threshold), int(self.persons.sum()))
