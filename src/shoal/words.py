"""Wording of numbers, names and other facts for readers."""

from collections.abc import Iterable, Mapping
from math import floor, isfinite, isnan, log10
from string import Formatter
from typing import Any

_MOST_DIGITS = 17  # maximum number of significant digits
_SMALLEST = 1e-9  # smaller numbers are written as smaller than this one

_EVEN, _MANY = 0.5, 100  # risk from which per cent are shown; n from which tenths are omitted in 1 in n


def odds(risk: float | None) -> str:
    """Return a small risk as 1 in n, a large one in per cent, and a risk that does not apply as a dash.

    >>> odds(1 / 11), odds(0.0004), odds(0.75), odds(0.0), odds(None)
    ('1 in 11', '1 in 2,500', '75%', '0%', '–')
    """
    if risk is None:
        return "–"
    if not 0 < risk < _EVEN:
        return share(risk)
    many = 1 / risk
    return f"1 in {many:,.0f}" if many >= _MANY or abs(many - round(many)) < 0.05 else f"1 in {many:,.1f}"


def blurred(number: int, least: int) -> str:
    """Return a number of individuals; a number below ``least`` is only described. 0 may be disclosed.

    >>> blurred(12, 11), blurred(3, 11), blurred(0, 11), blurred(3, 1)
    ('12', 'fewer than 11', '0', '3')
    """
    return f"fewer than {least:,}" if 0 < number < least else f"{number:,}"


def printable(text: str) -> str:
    """Replace characters that cannot be displayed, such as bells and nulls.

    >>> printable("a" + chr(7) + "b") == "a" + chr(0xFFFD) + "b"
    True
    """
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\ufffd" for sign in text)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "row"), counted(2000, "row"), counted(2, "class"), counted(3, "query")
    ('1 row', '2,000 rows', '2 classes', '3 queries')
    """
    plural = f"{noun}es" if noun.endswith("s") else f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def listed(names: Iterable[str], most: int = 12) -> str:
    """Return names for a message: quoted, comma-separated, at most ``most`` of them.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def short(number: Any, limit: Any = None, *, digits: int = 3) -> str:
    """Return a number for readers: integers in full, other numbers with at least three significant digits.

    ``limit``: a threshold. More digits are written if rounding would put the number on the other side of it.

    >>> from fractions import Fraction
    >>> short(Fraction(1, 3)), short(11), short(0.25), short(226123.4), short(0.000_012_34), short(float("inf"))
    ('0.333', '11', '0.25', '226,123', '0.0000123', 'infinity')
    >>> short(0.2003, limit=0.2), short(0.1998, limit=0.2), short(3e-17)
    ('0.2003', '0.1998', '<0.000000001')
    """
    if isinstance(number, int):
        return f"{number:,}"
    value = float(number)
    if 0 < abs(value) < _SMALLEST and limit is None:
        return f"<{_SMALLEST:.9f}" if value > 0 else f">-{_SMALLEST:.9f}"
    if not isfinite(value):
        return "not a number" if isnan(value) else "infinity" if value > 0 else "−infinity"
    for places in range(digits, _MOST_DIGITS):
        text = _significant(value, places)
        if limit is None or _side(float(text.replace(",", "")), limit) == _side(value, limit):
            return text
    return _significant(value, _MOST_DIGITS)


def share(number: Any, limit: Any = None) -> str:
    """Return a share in per cent, with three significant digits.

    A share below 1 is never written as 100%.

    >>> share(0.168), share(1), share(0.05004, limit=0.05), share(0.000_02), share(0.99996)
    ('16.8%', '100%', '5.004%', '0.002%', '99.996%')
    """
    return f"{short(100 * float(number), 100 if limit is None else 100 * float(limit))}%"


def _significant(value: float, digits: int) -> str:
    """Return a number with ``digits`` significant digits, or all integer digits, and without trailing decimal zeros."""
    decimals = 0 if value == 0 else max(0, digits - 1 - floor(log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _side(value: float, limit: Any) -> int:
    return (value > float(limit)) - (value < float(limit))


class _Phrases(Formatter):
    """Formatter of texts: ``{records:record}`` is a number with its noun, ``{names:listed}`` a list of names."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        if format_spec == "listed":
            return listed(value)
        if format_spec in {"share", "short"}:
            return share(value) if format_spec == "share" else short(value)
        if isinstance(value, int) and len(format_spec) > 1 and format_spec.replace(" ", "").replace("-", "").isalpha():
            return counted(value, format_spec)
        return super().format_field(value, format_spec)


def phrase(template: str, **facts: Any) -> str:
    """Return a text with its facts filled in.

    >>> phrase("{records:record} of {names:listed}, {part:share}.", records=1, names=["a", "b"], part=0.5)
    "1 record of 'a', 'b', 50%."
    """
    return _Phrases().vformat(template, (), facts) if facts else template.replace("{{", "{").replace("}}", "}")


def values(numbers: Mapping[str, Any], limits: Mapping[str, Any] | None = None) -> str:
    """Return named values as text; none is rounded across its limit.

    >>> values({"k": 11, "t": 0.125}), values({"t": 0.20004}, {"t": 0.2})
    ('k = 11, t = 0.125', 't = 0.20004')
    """
    return ", ".join(f"{name} = {short(number, (limits or {}).get(name))}" for name, number in numbers.items())


def first_sentence(thing: Any) -> str:
    """Return the first sentence of the docstring of an object.

    >>> from shoal.models.k_anonymity import KAnonymity
    >>> first_sentence(KAnonymity)
    'Every individual shares the quasi-identifiers with at least k − 1 others'
    """
    text = (thing.__doc__ or "").strip().partition("\n")[0]
    return str(text.partition(". ")[0].rstrip(".").replace("``", ""))


def size_in_words(size: float) -> str:
    """Return a number of bytes with its unit.

    >>> size_in_words(3_500_000), size_in_words(2.4 * 2**30)
    ('3 MB', '2.4 GB')
    """
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{size / 2**20:.0f} MB"


def time_in_words(seconds: float) -> str:
    """Return a duration with its unit.

    >>> time_in_words(0.2), time_in_words(42), time_in_words(600), time_in_words(9000)
    ('below 1 s', '42 s', '10 min', '2.5 h')
    """
    if seconds < 1:
        return "below 1 s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
