"""What an adversary has learned: a model, and what it says about people."""

from dataclasses import dataclass

import numpy as np

from shoal.analyses.learner import Fitted, one_thread
from shoal.attacks.features import MISSING, AttackFeatures
from shoal.attacks.people import KnownPeople
from shoal.recoding.nodes import Floats, Ints

FEWEST = 20  # records that something can be learned from


@dataclass(frozen=True, slots=True, eq=False)
class TrainedModel:
    """A trained model, what it reads, and the class of each value that it predicts."""

    model: Fitted
    features: AttackFeatures
    of_value: Ints

    def truth(self, people: KnownPeople, column: str) -> Ints:
        """Return the true class of each person."""
        return self.of_value[people.codes[column]]

    def known(self, people: KnownPeople, column: str) -> KnownPeople:
        """Return the people who have a value."""
        return people.some(np.flatnonzero(self.truth(people, column) != MISSING))

    def right(self, people: KnownPeople, column: str) -> Floats:
        """Tell of whom the model predicts the value."""
        if not len(people):
            return np.zeros(0)
        with one_thread():
            guesses = self.model(self.features.people(people))
        return np.asarray(guesses == self.truth(people, column), np.float64)
