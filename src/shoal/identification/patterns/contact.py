"""E-mail addresses, telephone numbers, network addresses and coordinates."""

import numpy as np
from numpy.typing import NDArray

from shoal.identification.patterns.pattern import PATTERNS, Mask, Pattern

_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_VERSION = 31  # largest number in a version


def is_network(texts: NDArray[np.str_]) -> Mask:
    """Return a mask of the IP addresses, as opposed to version numbers: a part exceeds 31, or the text has a colon.

    >>> is_network(np.array(["192.168.0.1", "1.2.3.1", "FE80::1"])).tolist()
    [True, False, True]
    """
    return np.array([":" in text or max(map(int, text.split("."))) > _VERSION for text in texts.tolist()], bool)


PATTERNS.register("e-mail")(
    Pattern("e-mail", "e-mail", "e-mail addresses", r"[\w.+\-%']+@[\w\-]+(?:\.[\w\-]+)+"),
)
PATTERNS.register("phone")(
    Pattern(
        "phone",
        "phone",
        "telephone numbers",
        r"(?:\+|00)\d[\d\s().\-/]{6,20}\d|\(?0\d{1,5}[\s().\-/]+[\d\s().\-/]{4,14}\d|0\d{8,11}"
        r"|\(?\d{3}\)?[\s.\-]\d{3}[\s.\-]\d{4}",
        fewest=3,
    ),
)
PATTERNS.register("web-address")(
    Pattern("web-address", "web-address", "web addresses", r"(?:https?://|www\.)\S+"),
)
PATTERNS.register("ip-address")(
    Pattern(
        "ip-address",
        "network-address",
        "IP addresses",
        rf"{_BYTE}(?:\.{_BYTE}){{3}}|(?:[0-9A-Fa-f]{{1,4}}:){{5,7}}[0-9A-Fa-f]{{1,4}}|[0-9A-Fa-f:]*::[0-9A-Fa-f:]*",
        is_network,
        apart=r"^\s+",
        digits=False,
        fewest=3,
    ),
)
PATTERNS.register("mac-address")(
    Pattern("mac-address", "device", "MAC addresses", r"[0-9A-Fa-f]{2}(?:[:\-][0-9A-Fa-f]{2}){5}"),
)
PATTERNS.register("uuid")(
    Pattern(
        "uuid",
        "other-number",
        "universally unique identifiers",
        r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    ),
)
PATTERNS.register("coordinates")(
    Pattern("coordinates", "coordinates", "coordinates", r"-?\d{1,2}\.\d{3,}\s*[,;]\s*-?\d{1,3}\.\d{3,}"),
)
