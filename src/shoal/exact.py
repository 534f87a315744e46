"""Exact numbers: parameters as they are written. 0.09 is nine hundredths, "1/11" is one eleventh."""

import re
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_MOST_DIGITS = 400  # maximum power of ten; a larger one would take hours to compute


def exact(given: Any) -> Fraction:
    """Return a number, or a text such as "1/11" or "0.2", as an exact fraction.

    >>> exact(0.1), exact("1/11"), exact(3)
    (Fraction(1, 10), Fraction(1, 11), Fraction(3, 1))
    >>> exact("1e9999999")
    Traceback (most recent call last):
    ValueError: must have a power of ten between -400 and 400
    """
    if isinstance(given, bool) or not isinstance(given, int | float | str | Fraction):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic turns only ValueError into a message
    power = re.search(r"[eE][-+]?0*(\d+)\s*$", given.replace("_", "")) if isinstance(given, str) else None
    if power and (len(power[1]) > len(str(_MOST_DIGITS)) or int(power[1]) > _MOST_DIGITS):
        raise ValueError(f"must have a power of ten between -{_MOST_DIGITS} and {_MOST_DIGITS}")
    try:
        return Fraction(repr(given) if isinstance(given, float) else given)
    except (ValueError, ZeroDivisionError):
        raise ValueError('must be a number, or a fraction such as "1/11"') from None


def _plain(number: Fraction) -> int | float:
    return number.numerator if number.denominator == 1 else float(number)


Exact = Annotated[
    Fraction,
    BeforeValidator(exact),
    PlainSerializer(_plain),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\d+/\d+$"}]}),
]


def _between(low: int, high: int | None) -> BeforeValidator:
    def check(given: Any) -> Fraction:
        number = exact(given)
        if number < low or (high is not None and number > high):
            raise ValueError(f"must be {low} or more" if high is None else f"must be between {low} and {high}")
        return number

    return BeforeValidator(check)


Share = Annotated[Exact, _between(0, 1)]
Positive = Annotated[Exact, _between(0, None)]
AtLeastOne = Annotated[Exact, _between(1, None)]
