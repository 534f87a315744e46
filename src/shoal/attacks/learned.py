"""What an adversary has learned: a model, and what it says about people."""

from dataclasses import dataclass

import numpy as np

from shoal.analyses.learner import Fitted, one_thread
from shoal.attacks.features import MISSING, Features
from shoal.attacks.people import People
from shoal.recoding.nodes import Floats, Ints

FEWEST = 20  # records that something can be learned from


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """A trained model, what it reads, and the class of each value that it predicts."""

    model: Fitted
    features: Features
    of_value: Ints

    def truth(self, people: People, column: str) -> Ints:
        """Return the true class of each person."""
        return self.of_value[people.codes[column]]

    def known(self, people: People, column: str) -> People:
        """Return the people who have a value."""
        return people.some(np.flatnonzero(self.truth(people, column) != MISSING))

    def right(self, people: People, column: str) -> Floats:
        """Tell of whom the model predicts the value."""
        if not len(people):
            return np.zeros(0)
        with one_thread():
            said = self.model(self.features.people(people))
        return np.asarray(said == self.truth(people, column), np.float64)
