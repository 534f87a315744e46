"""Equation: a number that other numbers of the same record determine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from shoal.recoding.nodes import Floats

_ROUNDS = 4  # of the fit, each without the records that deviate most from the last
_REGULAR = 0.75  # share of the records that determine the weights
_TAIL = 0.995  # share of the records that deviate by no more than ``rest``
_DIGITS, _LONG = 5, 8  # maximum number of significant digits of a round weight, and of a constant
_AS_GOOD = 1.05  # by this factor, round weights may fit worse
_UNITS, _NEAR = (1 / 365.25, 12 / 365.25, 1 / 7, 1 / 12), 0.01  # years, months, weeks from days; years from months
_LARGE, _FAR = 500.0, 1e300  # logarithm of a factor that is too large to be one, and deviation that is not finite
_WHOLE = 0.98  # share of the whole numbers that rounding down must give


class EquationForm(StrEnum):
    """A weighted sum of numbers, or of their logarithms, that gives a number or its logarithm."""

    SUM = "sum"
    PRODUCT = "product"  # of powers
    LOGARITHM = "logarithm"  # of one or more numbers
    EXPONENTIAL = "exponential"

    @property
    def is_of_logarithms(self) -> bool:
        """Whether the causes enter as logarithms."""
        return self in {EquationForm.PRODUCT, EquationForm.LOGARITHM}

    @property
    def gives_logarithm(self) -> bool:
        """Whether the sum is the logarithm of the number."""
        return self in {EquationForm.PRODUCT, EquationForm.EXPONENTIAL}


@dataclass(frozen=True, slots=True)
class Equation:
    """Equation of a number in terms of others.

    ``weights``: the factor of each number or logarithm. ``constant``: what is added. ``is_whole``: whether the result
    is rounded down, like an age in years. ``rest``: the deviation that 99.5% of the records do not exceed.
    """

    weights: tuple[float, ...]
    constant: float
    form: EquationForm
    rest: float
    is_whole: bool = False

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
        positive = bool((told > 0).all()), all(bool((numbers > 0).all()) for numbers in causes)
        forms = [
            form for form in EquationForm
            if (positive[0] or not form.gives_logarithm) and (positive[1] or not form.is_of_logarithms)
        ]  # fmt: skip
        best = min((_best(told, causes, form) for form in forms), key=lambda equation: equation.rest)
        return _whole(best, told, causes) or best

    def of(self, causes: Sequence[Floats]) -> Floats:
        """Return the number that the equation gives for each record; NaN if another number is missing."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            known = [np.log(numbers) if self.form.is_of_logarithms else numbers for numbers in causes]
            total = np.asarray(self.constant + _sum(self.weights, known))
            result = np.exp(total) if self.form.gives_logarithm else total
            return np.asarray(np.floor(result) if self.is_whole else result)


def _sum(weights: Sequence[float], causes: Sequence[Floats]) -> Floats:
    return np.asarray(sum(weight * numbers for weight, numbers in zip(weights, causes, strict=True)))


def _best(told: Floats, causes: Sequence[Floats], form: EquationForm) -> Equation:
    """Return the equation of one form, with round weights if they fit as well as others."""
    wanted = np.log(told) if form.gives_logarithm else told
    known = [np.log(numbers) for numbers in causes] if form.is_of_logarithms else [*causes]
    weights, constant = _solved(wanted, known)
    exact = _judged(weights, constant, told, causes, form)
    for some in _rounded(weights):
        middle = float(np.median(wanted - _sum(some, known)))
        for value in (*_constants(middle, form), middle):
            equation = _judged(some, value, told, causes, form)
            if equation.rest <= _AS_GOOD * exact.rest + 1e-9 * float(np.ptp(told)):
                return equation
    return exact


def _solved(wanted: Floats, known: Sequence[Floats]) -> tuple[list[float], float]:
    """Return the weights and the constant of the sum that fits three quarters of the records best."""
    means = [float(numbers.mean()) for numbers in known]
    columns = np.stack([np.ones(len(wanted)), *(part - mean for part, mean in zip(known, means, strict=True))], axis=1)
    chosen = np.ones(len(wanted), bool)
    for _ in range(_ROUNDS):
        middle, *weights = np.linalg.lstsq(columns[chosen], wanted[chosen], rcond=None)[0].tolist()
        apart = np.abs(wanted - columns @ np.array([middle, *weights]))
        chosen = apart <= np.quantile(apart, _REGULAR)
    return weights, middle - sum(weight * mean for weight, mean in zip(weights, means, strict=True))


def _judged(
    weights: Sequence[float], constant: float, told: Floats, causes: Sequence[Floats], form: EquationForm
) -> Equation:
    """Return an equation with its deviation from the data."""
    equation = Equation(tuple(weights), constant, form, 0.0)
    apart = np.abs(told - equation.of(causes))
    return replace(equation, rest=float(np.quantile(np.where(np.isfinite(apart), apart, _FAR), _TAIL)))


def _whole(equation: Equation, told: Floats, causes: Sequence[Floats]) -> Equation | None:
    """Return an equation whose result is rounded down, if this gives nearly all of the whole numbers told."""
    if equation.form is not EquationForm.SUM or (told != np.floor(told)).any() or not 1e-6 < equation.rest <= 1:
        return None
    weights, _ = _solved(told, causes)
    size = abs(weights[int(np.argmax([part.std() for part in causes]))])  # as of two dates: the same for both
    sizes = [unit for unit in _UNITS if abs(size / unit - 1) < _NEAR] + [size]
    alike = [[float(np.copysign(part, weight)) for weight in weights] for part in sizes]
    tries = [_rounded_down(some, told, causes) for some in (*alike, *_rounded(alike[-1]), *_rounded(weights), weights)]
    right, best = max(tries, key=lambda attempt: attempt[0])
    return best if right >= _WHOLE else None


def _rounded_down(weights: Sequence[float], told: Floats, causes: Sequence[Floats]) -> tuple[float, Equation]:
    """Return the share of numbers that an equation gives if its result is rounded down, and the equation."""
    raw = _sum(weights, causes)
    low, high = float(np.quantile(told - raw, _TAIL)), float(np.quantile(told + 1 - raw, 1 - _TAIL))
    equation = Equation(tuple(weights), (low + high) / 2, EquationForm.SUM, 0.0, is_whole=True)
    apart = np.abs(told - equation.of(causes))
    return float((apart == 0).mean()), replace(equation, rest=float(np.quantile(apart, _TAIL)))


def _rounded(weights: Sequence[float]) -> Iterator[list[float]]:
    """Yield weights with one significant digit, with two, and so on."""
    for digits in range(1, _DIGITS + 1):
        yield [float(f"{weight:.{digits - 1}e}") for weight in weights]


def _constants(middle: float, form: EquationForm) -> Iterator[float]:
    """Yield round constants near a number: 0 or few digits of the constant, or of the factor."""
    if not form.gives_logarithm:
        yield 0.0
        yield from (float(f"{middle:.{digits - 1}e}") for digits in range(1, _LONG + 1))
    elif abs(middle) < _LARGE:
        yield from (float(np.log(float(f"{np.exp(middle):.{digits - 1}e}"))) for digits in range(1, _LONG + 1))
