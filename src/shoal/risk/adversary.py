"""Re-identification risk by adversary: prosecutor, journalist and marketer."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.classes.classes import Classes
from shoal.classes.identity import Identity
from shoal.population import Matched, Population
from shoal.risk.survey import expected_inverse

THRESHOLD = Fraction(1, 5)


@dataclass(frozen=True, slots=True)
class Risk:
    """Re-identification risk of an adversary.

    ``above``: the number of persons with a risk above the threshold. ``expected``: the expected number of re-identified
    persons. ``basis``: whether the numbers are counted, estimated, or an upper bound.
    """

    adversary: str
    maximum: float
    average: float
    threshold: float
    above: int
    share_above: float
    expected: float
    basis: str
    meaning: str

    @property
    def highest(self) -> float | None:
        """The risk of the individual at the highest risk; None for an adversary who links all individuals at once."""
        return None if self.adversary in _LINKS_ALL else self.maximum


_MEANING = {
    "prosecutor": "knows that an individual is in the table, and the quasi-identifiers of that individual",
    "journalist": "wants to re-identify any individual, and does not know who is in the table",
    "marketer": "links as many individuals as possible, and accepts errors",
}
_LINKS_ALL = frozenset({"marketer"})


def prosecutor(classes: Classes, threshold: Fraction = THRESHOLD) -> Risk:
    """Return the risk from an adversary who knows that a person is in the table: 1 / n in a class of n persons.

    >>> import shoal
    >>> prosecutor(Classes.of(shoal.read({"age": [34, 34, 71]}), ["age"])).maximum
    1.0
    """
    return _risk("prosecutor", Identity.of(classes), threshold, "counted")


def journalist(
    classes: Classes, population: Population | None = None, matched: Matched | None = None,
    threshold: Fraction = THRESHOLD,
) -> Risk:  # fmt: skip
    """Return the risk from an adversary who does not know who is in the table: 1 / N.

    N is the number of individuals of the population who share the quasi-identifiers of a class. With a register, N is
    counted. If only the size of the population is known, the mean of 1 / N is estimated from the class size and the
    sampling fraction (Benedetti & Franconi 1998). Otherwise the prosecutor's risk is an upper bound.
    """
    return _of_population("journalist", classes, population, matched, threshold)


def marketer(
    classes: Classes, population: Population | None = None, matched: Matched | None = None,
    threshold: Fraction = THRESHOLD,
) -> Risk:  # fmt: skip
    """Return the risk from an adversary who links all individuals: ``average`` is the share of correct links."""
    return _of_population("marketer", classes, population, matched, threshold)


def _of_population(
    adversary: str, classes: Classes, population: Population | None, matched: Matched | None, threshold: Fraction
) -> Risk:
    if matched is not None:
        return _risk(adversary, Identity.of(classes, np.maximum(matched.counts, classes.sizes)), threshold, "counted")
    if population is not None:
        return _estimated(adversary, classes, population.fraction(classes.persons), threshold)
    return _risk(adversary, Identity.of(classes), threshold, "upper bound")


def _risk(adversary: str, identity: Identity, threshold: Fraction, basis: str) -> Risk:
    return Risk(
        adversary,
        float(identity.maximum()),
        float(identity.average()),
        float(threshold),
        identity.above(threshold),
        float(identity.share_above(threshold)),
        float(identity.expected()),
        basis,
        _MEANING[adversary],
    )


def _estimated(adversary: str, classes: Classes, fraction: Fraction, threshold: Fraction) -> Risk:
    identity = Identity.of(classes)
    risks = expected_inverse(identity.crowd, np.full(len(identity.crowd), float(fraction)))
    persons, expected = int(identity.persons.sum()), float((risks * identity.persons).sum())
    above = int(identity.persons[risks > float(threshold)].sum())
    return Risk(
        adversary,
        float(risks.max()),
        expected / persons,
        float(threshold),
        above,
        above / persons,
        expected,
        "estimated",
        _MEANING[adversary],
    )
