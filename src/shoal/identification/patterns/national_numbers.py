"""National identification numbers, with their checksums."""

import numpy as np
from numpy.typing import NDArray

from shoal.identification.patterns.pattern import PATTERNS, Mask, Pattern, digits, modulo

_LETTERS = np.array(list("TRWAGMYFPDXBNJZSQVHLCKE"))


def nhs(texts: NDArray[np.str_]) -> Mask:
    """Return a mask of the valid NHS numbers: weights 10 to 2, modulo 11.

    >>> nhs(np.array(["9434765919", "9434765918"])).tolist()
    [True, False]
    """
    number = digits(texts)
    check = 11 - (number[:, :9] * np.arange(10, 1, -1)).sum(axis=1) % 11
    return np.asarray(np.where(check == 11, 0, check) == number[:, 9])


def bsn(texts: NDArray[np.str_]) -> Mask:
    """Return a mask of the valid Dutch citizen service numbers: the sum with weights 9 to 2 and −1 is a multiple of 11.

    >>> bsn(np.array(["111222333", "111222334"])).tolist()
    [True, False]
    """
    weights = np.array([9, 8, 7, 6, 5, 4, 3, 2, -1])
    return np.asarray(((digits(texts) * weights).sum(axis=1) % 11 == 0) & (texts != "000000000"))


def rijksregister(texts: NDArray[np.str_]) -> Mask:
    """Return a mask of the valid Belgian national numbers.

    The check number is 97 minus the remainder modulo 97; from birth year 2000 on, a 2 precedes the number.

    >>> rijksregister(np.array(["85073003328", "85073003329"])).tolist()
    [True, False]
    """
    check = np.array([int(text[9:]) for text in texts.tolist()])
    first, second = (97 - modulo(np.char.add(before, np.char.ljust(texts, 9).astype("U9")), 97) for before in ("", "2"))
    return np.asarray((first == check) | (second == check))


def steuer_id(texts: NDArray[np.str_]) -> Mask:
    """Return a mask of the valid German tax numbers (ISO 7064, modulus 11, 10).

    >>> steuer_id(np.array(["86095742719", "86095742718"])).tolist()
    [True, False]
    """
    number, product = digits(texts), np.full(len(texts), 10)
    for place in range(10):
        total = (number[:, place] + product) % 10
        product = 2 * np.where(total == 0, 10, total) % 11
    check = 11 - product
    return np.asarray(np.where(check == 10, 0, check) == number[:, 10])


def kvnr(texts: NDArray[np.str_]) -> Mask:
    """Return a mask of the valid German health insurance numbers: letter as two digits, alternating weights 1 and 2.

    >>> kvnr(np.array(["A123456780", "A123456781"])).tolist()
    [True, False]
    """
    written = np.array([f"{ord(text[0]) - 64:02d}{text[1:]}" for text in texts.tolist()])
    number = digits(written)
    weighed = number[:, :10] * np.array([1, 2] * 5)
    return np.asarray((weighed // 10 + weighed % 10).sum(axis=1) % 10 == number[:, 10])


def nir(texts: NDArray[np.str_]) -> Mask:
    """Return a mask of the valid French social security numbers.

    The check number is 97 minus the remainder modulo 97; the letters of Corsica (2A, 2B) count as numbers.

    >>> nir(np.array(["255081416802538", "255081416802539"])).tolist()
    [True, False]
    """
    plain = [text.replace("2A", "19").replace("2B", "18") for text in texts.tolist()]
    check = np.array([int(text[13:]) for text in plain])
    return np.asarray(97 - modulo(np.array([text[:13] for text in plain]), 97) == check)


def dni(texts: NDArray[np.str_]) -> Mask:
    """Return a mask of the valid Spanish identity numbers.

    The letter encodes the remainder modulo 23; X, Y and Z count as 0, 1 and 2.

    >>> dni(np.array(["12345678Z", "X1234567L", "12345678A"])).tolist()
    [True, True, False]
    """
    numbers = [int(text[:-1].translate(str.maketrans("XYZ", "012"))) for text in texts.tolist()]
    return np.asarray(_LETTERS[np.array(numbers) % 23] == np.array([text[-1] for text in texts.tolist()]))


for _name, _says, _shape, _check in (
    ("nhs-number", "NHS numbers", r"\d{3}[\s\-]?\d{3}[\s\-]?\d{4}", nhs),
    ("bsn", "Dutch citizen service numbers", r"\d{9}", bsn),
    ("rijksregisternummer", "Belgian national numbers", r"\d{2}\.?\d{2}\.?\d{2}[\-.]?\d{3}\.?\d{2}", rijksregister),
    ("steuer-id", "German tax numbers", r"[1-9]\d{10}", steuer_id),
    (
        "nir",
        "French social security numbers",
        r"[12]\s?\d{2}\s?\d{2}\s?(?:\d{2}|2[ABab])\s?\d{3}\s?\d{3}\s?\d{2}",
        nir,
    ),
    ("dni", "Spanish identity numbers", r"(?:\d{8}|[XYZxyz]\d{7})-?[A-Za-z]", dni),
):
    PATTERNS.register(_name)(Pattern(_name, "national-number", _says, _shape, _check))

PATTERNS.register("kvnr")(
    Pattern("kvnr", "insurance-number", "German health insurance numbers", r"[A-Za-z]\d{9}", kvnr),
)
PATTERNS.register("ssn")(
    Pattern(
        "ssn",
        "national-number",
        "US social security numbers",
        r"(?:00[1-9]|0[1-9]\d|[1-578]\d{2}|6[0-57-9]\d|66[0-57-9])-\d{2}-\d{4}",
    ),
)
