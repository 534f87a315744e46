"""Equation: a number that other numbers of the same record determine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.recoding.nodes import Floats

_ROUNDS = 4  # of the fit, each without the records that deviate most from the last
_REGULAR = 0.75  # share of the records that determine the weights
_TAIL = 0.995  # share of the records that deviate by no more than ``rest``
_DIGITS = 4  # maximum number of significant digits of a round weight
_AS_GOOD = 1.05  # by this factor, round weights may fit worse


@dataclass(frozen=True, slots=True)
class Equation:
    """Equation of a number in terms of others: a weighted sum, or a product of powers.

    ``weights``: the factor of each number, or its exponent. ``constant``: the number that is added, or the logarithm of
    the factor. ``rest``: the deviation that 99.5% of the records do not exceed.
    """

    weights: tuple[float, ...]
    constant: float
    is_product: bool
    rest: float

    @classmethod
    def fitted(cls, told: Floats, causes: Sequence[Floats]) -> "Equation | None":
        """Return the equation that deviates least from the data; None if fewer records than weights are known.

        Weights are rounded if that fits as well, because exact relations have round ones: the body mass index is weight
        · height⁻². A quarter of the records, such as wrong entries, does not distort the weights.

        >>> rng = np.random.default_rng(0)
        >>> weight, height = rng.normal(75, 9, 500).round(1), rng.normal(170, 9, 500).round()
        >>> Equation.fitted((weight / (height / 100) ** 2).round(1), [weight, height]).weights
        (1.0, -2.0)
        """
        there = np.logical_and.reduce([np.isfinite(numbers) for numbers in (told, *causes)])
        told, causes = told[there], [numbers[there] for numbers in causes]
        if len(told) <= len(causes) + 1:
            return None
        tries = [_best(told, causes, is_product=False)]
        if all(bool((numbers > 0).all()) for numbers in (told, *causes)):
            tries.append(_best(told, causes, is_product=True))
        return min(tries, key=lambda equation: equation.rest)

    def of(self, causes: Sequence[Floats]) -> Floats:
        """Return the number that the equation gives for each record; NaN if another number is missing."""
        if not self.is_product:
            return np.asarray(self.constant + _sum(self.weights, causes))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.exp(self.constant + _sum(self.weights, [np.log(numbers) for numbers in causes]))


def _sum(weights: Sequence[float], causes: Sequence[Floats]) -> Floats:
    return np.asarray(sum(weight * numbers for weight, numbers in zip(weights, causes, strict=True)))


def _best(told: Floats, causes: Sequence[Floats], *, is_product: bool) -> Equation:
    """Return the equation of one form, with round weights if they fit as well as others."""
    wanted, known = (np.log(told), [np.log(of) for of in causes]) if is_product else (told, [*causes])
    columns = np.stack([np.ones(len(wanted)), *known], axis=1)
    chosen = np.ones(len(wanted), bool)
    for _ in range(_ROUNDS):
        constant, *weights = np.linalg.lstsq(columns[chosen], wanted[chosen], rcond=None)[0].tolist()
        apart = np.abs(wanted - columns @ np.array([constant, *weights]))
        chosen = apart <= np.quantile(apart, _REGULAR)
    exact = _judged(weights, constant, told, causes, is_product=is_product)
    for some in _rounded(weights):
        middle = float(np.median(wanted - _sum(some, known)))
        for value in (*_constants(middle, is_product=is_product), middle):
            equation = _judged(some, value, told, causes, is_product=is_product)
            if equation.rest <= _AS_GOOD * exact.rest + 1e-9 * float(np.ptp(told)):
                return equation
    return exact


def _judged(
    weights: Sequence[float], constant: float, told: Floats, causes: Sequence[Floats], *, is_product: bool
) -> Equation:
    """Return an equation with its deviation from the data."""
    equation = Equation(tuple(weights), constant, is_product, 0.0)
    rest = float(np.quantile(np.abs(told - equation.of(causes)), _TAIL))
    return Equation(tuple(weights), constant, is_product, rest)


def _rounded(weights: Sequence[float]) -> Iterator[list[float]]:
    """Yield weights with one significant digit, with two, and so on."""
    for digits in range(1, _DIGITS + 1):
        yield [float(f"{weight:.{digits - 1}e}") for weight in weights]


def _constants(middle: float, *, is_product: bool) -> Iterator[float]:
    """Yield round constants near a number: 0 or few digits of the constant, or of the factor."""
    if not is_product:
        yield 0.0
    for digits in range(1, _DIGITS + 1):
        text = f"{np.exp(middle) if is_product else middle:.{digits - 1}e}"
        yield float(np.log(float(text))) if is_product else float(text)
