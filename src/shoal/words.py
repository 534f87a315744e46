"""Numbers in words: how risks, shares and measured values are written for people."""

from typing import Any

_EVEN, _MANY = 0.5, 100  # from which risk on per cent are easier to grasp; from how many on nobody asks for tenths


def odds(risk: float) -> str:
    """Write a small risk as 1 in so many, a large one in per cent.

    >>> odds(1 / 11), odds(0.0004), odds(0.75), odds(0.0)
    ('1 in 11', '1 in 2,500', '75.0%', '0.0%')
    """
    if not 0 < risk < _EVEN:
        return f"{risk:.1%}"
    many = 1 / risk
    return f"1 in {many:,.0f}" if many >= _MANY or abs(many - round(many)) < 0.05 else f"1 in {many:,.1f}"


def blurred(number: int, least: int) -> str:
    """Write a number of persons; one below ``least`` only as that. None at all may be told.

    >>> blurred(12, 11), blurred(3, 11), blurred(0, 11), blurred(3, 1)
    ('12', 'fewer than 11', '0', '3')
    """
    return f"fewer than {least:,}" if 0 < number < least else f"{number:,}"


def printable(text: str) -> str:
    """Return text without signs that no page can show, such as bells and nulls.

    >>> printable("a" + chr(7) + "b") == "a" + chr(0xFFFD) + "b"
    True
    """
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\ufffd" for sign in text)


def short(number: Any) -> str:
    """Write a measured value with as many digits as anybody reads.

    >>> from fractions import Fraction
    >>> short(Fraction(1, 3)), short(11), short(0.25), short(float("inf"))
    ('0.3333', '11', '0.25', 'infinity')
    """
    if isinstance(number, int):
        return f"{number:,}"
    value = float(number)
    return "infinity" if value == float("inf") else f"{value:.4g}"


def values(numbers: dict[str, Any]) -> str:
    """Write named values.

    >>> values({"k": 11, "t": 0.125})
    'k = 11, t = 0.125'
    """
    return ", ".join(f"{name} = {short(number)}" for name, number in numbers.items())


def first_sentence(thing: Any) -> str:
    """Say what a documented thing is: the first sentence of its documentation.

    >>> from shoal.models.k_anonymity import KAnonymity
    >>> first_sentence(KAnonymity)
    'Everybody looks like at least k − 1 others'
    """
    text = (thing.__doc__ or "").strip().partition("\n")[0]
    return str(text.partition(". ")[0].rstrip(".").replace("``", ""))


def size_in_words(size: float) -> str:
    """Write a number of bytes.

    >>> size_in_words(3_500_000), size_in_words(2.4 * 2**30)
    ('3 MB', '2.4 GB')
    """
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{size / 2**20:.0f} MB"


def time_in_words(seconds: float) -> str:
    """Write how long something takes.

    >>> time_in_words(0.2), time_in_words(42), time_in_words(600), time_in_words(9000)
    ('below 1 s', '42 s', '10 min', '2.5 h')
    """
    if seconds < 1:
        return "below 1 s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
