"""Population uniqueness: the share of unique individuals in the population, estimated from sample class sizes."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

from shoal.classes.classes import Classes
from shoal.classes.identity import Identity
from shoal.population import Population
from shoal.risk.gamma import digamma

_STEPS = 200
_CLOSE = 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """The number of classes of each size, in a sample of ``persons`` out of a population of ``people``."""

    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    persons: int
    people: int

    @classmethod
    def of(cls, classes: Classes, population: Population) -> "Sizes":
        """Count the classes by size."""
        population.fraction(classes.persons)
        sizes, place = np.unique(classes.sizes, return_inverse=True)
        counts = np.bincount(place, weights=classes.copies).astype(np.int64)
        return cls(sizes, counts, int((sizes * counts).sum()), population.size)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return int(self.counts.sum())

    def of_size(self, size: int) -> int:
        """Return the number of classes of a size."""
        return int(self.counts[self.sizes == size].sum())


@dataclass(frozen=True, slots=True)
class PopulationUniqueness:
    """Estimates of the share of unique individuals in the population; None if a model has no solution.

    ``dankar``: the estimate selected by the rule of Dankar et al. 2012; ``rule``: the name of its model. ``counted``:
    the true share, counted in a register if there is one.
    """

    zayatz: float
    pitman: float | None
    snb: float | None
    dankar: float
    rule: str
    counted: float | None = None


def population_uniqueness(classes: Classes, population: Population) -> PopulationUniqueness:
    """Estimate the share of unique individuals in the population.

    Dankar's rule: Pitman's model if at most a tenth of the population is in the sample, otherwise the smaller of
    Zayatz' and the slide negative binomial model. Zayatz' model replaces a model without a solution. If no person is
    unique in the sample, all estimates are 0.

    >>> import shoal
    >>> classes = Classes.of(shoal.read({"age": [1, 2, 2, 3, 3, 3, 4, 5]}), ["age"])
    >>> population_uniqueness(classes, Population(16)).rule
    'snb'
    """
    sizes, counted = Sizes.of(classes, population), _counted(classes, population)
    if not sizes.of_size(1):
        return PopulationUniqueness(0.0, 0.0, 0.0, 0.0, "none is unique in the sample", counted)
    zayatz_, pitman_, snb_ = zayatz(sizes), pitman(sizes), snb(sizes)
    if sizes.persons / sizes.people <= 0.1:
        chosen, rule = (pitman_, "pitman") if pitman_ is not None else (zayatz_, "zayatz")
    else:
        chosen, rule = (snb_, "snb") if snb_ is not None and snb_ < zayatz_ else (zayatz_, "zayatz")
    return PopulationUniqueness(zayatz_, pitman_, snb_, chosen, rule, counted)


def _counted(classes: Classes, population: Population) -> float | None:
    if population.register is None:
        return None
    everybody = Classes.of(population.register, classes.quasi, [])
    return float(Identity.of(everybody).share_above(Fraction(1, 2)))


def zayatz(sizes: Sizes) -> float:
    """Return Zayatz' estimate (1991): population classes are distributed like those of the sample.

    A sample class of one stems from a population class of s individuals with a probability proportional to
    ``c_s · h(s)``, where h(s) is the hypergeometric probability of drawing exactly one of s.
    """
    largest = int(sizes.sizes.max())
    steps = np.arange(largest - 1)
    rest = (sizes.people - sizes.persons - steps) / (sizes.people - 1 - steps)
    others = np.concatenate([[1.0], np.cumprod(np.maximum(rest, 0.0))])
    drawn = sizes.sizes * others[sizes.sizes - 1]
    unique = sizes.of_size(1) / float((sizes.counts * drawn).sum())
    return sizes.of_size(1) * unique / sizes.persons


def pitman(sizes: Sizes) -> float | None:
    """Return the estimate from Pitman's sampling formula (Hoshino 2001), fitted by maximum likelihood.

    With the two parameters θ and α, ``Γ(θ + 1) / Γ(θ + α) · N^α`` of N individuals are unique. None if the likelihood
    has no maximum with α > 0.
    """
    if sizes.classes in {1, sizes.persons}:
        return None

    def theta(alpha: float) -> float:
        return _root(lambda shift: _by_theta(sizes, alpha, shift - alpha), 0.0, None) - alpha

    def slope(alpha: float) -> float:
        return _by_alpha(sizes, alpha, theta(alpha))

    low, high = 1e-4, 1 - 1e-9  # closer to 0, the sums suffer from cancellation
    if slope(low) <= 0:
        return None
    alpha = _root(slope, low, high)
    unique = exp(lgamma(theta(alpha) + 1) - lgamma(theta(alpha) + alpha) + alpha * log(sizes.people))
    return min(unique / sizes.people, 1.0)


def _by_theta(sizes: Sizes, alpha: float, theta: float) -> float:
    """Return the derivative of the log-likelihood with respect to θ."""
    ratio = theta / alpha
    classes = digamma(sizes.classes + ratio) - digamma(1 + ratio)
    return float(classes / alpha - digamma(sizes.persons + theta) + digamma(1 + theta))


def _by_alpha(sizes: Sizes, alpha: float, theta: float) -> float:
    """Return the derivative of the log-likelihood with respect to α."""
    ratio = theta / alpha
    classes = sizes.classes - 1 - ratio * (digamma(sizes.classes + ratio) - digamma(1 + ratio))
    members = (sizes.counts * (digamma(sizes.sizes - alpha) - digamma(1 - alpha))).sum()
    return float(classes / alpha - members)


def snb(sizes: Sizes) -> float | None:
    """Return the estimate of the slide negative binomial model (Chen & Keller-McNulty 1998).

    A population class has ``1 + X`` individuals, where X is negative binomial. The two parameters are those for which
    the expected numbers of sample classes, and of sample classes of one, equal the observed ones. None if there are
    none.
    """
    fraction = sizes.persons / sizes.people
    if fraction >= 1:
        return sizes.of_size(1) / sizes.people

    def alpha(beta: float) -> float:
        return _root(lambda guess: _slide(fraction, guess, beta)[0] * sizes.people - sizes.classes, 0.0, None)

    def ones(beta: float) -> float:
        return _slide(fraction, alpha(beta), beta)[1] * sizes.people - sizes.of_size(1)

    grid = 1 / (1 + np.exp(-np.linspace(-16, 16, 129)))
    signs = [ones(float(beta)) > 0 for beta in grid]
    turns = [place for place in range(len(grid) - 1) if signs[place] != signs[place + 1]]
    if not turns:
        return None
    beta = _root(ones, float(grid[turns[0]]), float(grid[turns[0] + 1]))
    return _slide(fraction, alpha(beta), beta)[2]


def _slide(fraction: float, alpha: float, beta: float) -> tuple[float, float, float]:
    """Return the expected sample classes, sample classes of one, and unique individuals, per individual.

    All numbers are relative to the size of the population.
    """
    classes = beta / (beta + alpha * (1 - beta))
    rest = 1 - fraction
    missed = (beta / (1 - (1 - beta) * rest)) ** alpha
    single = fraction * missed * (1 + rest * alpha * (1 - beta) / (1 - (1 - beta) * rest))
    return classes * (1 - rest * missed), classes * single, classes * beta**alpha


def _root(function: Callable[[float], float], low: float, high: float | None) -> float:
    """Return the root of a function, by secants and, where these fail, by bisection (Dowell & Jarratt).

    Without an upper end, the bracket is extended until the sign changes.
    """
    if high is None:
        low, high = max(low, 1e-12), 1.0
        sign = function(low) > 0
        while (function(high) > 0) == sign and high < 1e18:
            low, high = high, high * 4
    at_low, at_high = function(low), function(high)
    for _ in range(_STEPS):
        middle = high - at_high * (high - low) / (at_high - at_low) if at_high != at_low else (low + high) / 2
        if not min(low, high) < middle < max(low, high):
            middle = (low + high) / 2
        at_middle = function(middle)
        if at_middle == 0 or abs(high - low) <= _CLOSE * abs(middle):
            return middle
        if (at_middle > 0) != (at_high > 0):
            low, at_low = high, at_high
        else:
            at_low /= 2  # the same end is kept repeatedly: pull the secant towards it
        high, at_high = middle, at_middle
    return high
