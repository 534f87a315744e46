"""Trained models of an adversary, and their predictions for individuals."""

from dataclasses import dataclass

import numpy as np

from shoal.analyses.learner import Fitted, one_thread
from shoal.attacks.features import MISSING, AttackFeatures
from shoal.attacks.people import KnownPeople
from shoal.recoding.nodes import Floats, Ints

FEWEST = 20  # minimum number of records for training


@dataclass(frozen=True, slots=True, eq=False)
class TrainedModel:
    """A trained model, its features, and the class of each value of the predicted column."""

    model: Fitted
    features: AttackFeatures
    of_value: Ints

    def truth(self, people: KnownPeople, column: str) -> Ints:
        """Return the true class of each individual."""
        return self.of_value[people.codes[column]]

    def known(self, people: KnownPeople, column: str) -> KnownPeople:
        """Return the individuals that have a value in the column."""
        return people.some(np.flatnonzero(self.truth(people, column) != MISSING))

    def right(self, people: KnownPeople, column: str) -> Floats:
        """Return 1 for each individual whose class the model predicts correctly, 0 for the others."""
        if not len(people):
            return np.zeros(0)
        with one_thread():
            guesses = self.model(self.features.people(people))
        return np.asarray(guesses == self.truth(people, column), np.float64)
