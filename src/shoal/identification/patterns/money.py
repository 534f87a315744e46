"""Bank account and payment card numbers."""

import numpy as np
from numpy.typing import NDArray

from shoal.identification.patterns.pattern import PATTERNS, Mask, Pattern, luhn, modulo


def iban(texts: NDArray[np.str_]) -> Mask:
    """Return a mask of the valid bank account numbers (ISO 13616).

    Letters count from 10 on, and the first four characters are moved to the end; the remainder modulo 97 is 1.

    >>> iban(np.array(["DE89370400440532013000", "DE89370400440532013001"])).tolist()
    [True, False]
    """
    turned = ["".join(str(int(letter, 36)) for letter in text[4:] + text[:4]) for text in texts.tolist()]
    return np.asarray(modulo(np.array(turned), 97) == 1)


PATTERNS.register("iban")(
    Pattern(
        "iban", "account-number", "bank account numbers (IBAN)", r"[A-Za-z]{2}\d{2}(?:\s?[0-9A-Za-z]{1,4}){3,8}", iban
    ),
)
PATTERNS.register("payment-card")(
    Pattern(
        "payment-card", "account-number", "payment card numbers", r"[3-6]\d{3}(?:[\s\-]?\d{4}){2}[\s\-]?\d{3,4}", luhn
    ),
)
