"""E-mail addresses, telephone numbers and addresses in networks."""

from shoal.identification.patterns.pattern import PATTERNS, Pattern

_HEX = r"[0-9A-Fa-f]"
_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"

PATTERNS.register("e-mail")(
    Pattern("e-mail", "e-mail", "e-mail addresses", r"[\w.+\-%']+@[\w\-]+(?:\.[\w\-]+)+"),
)
PATTERNS.register("phone")(
    Pattern(
        "phone",
        "phone",
        "telephone numbers",
        r"(?:\+|00)\d[\d\s().\-/]{6,20}\d|0\d{1,5}[\s().\-/]+[\d\s().\-/]{4,14}\d|\(?\d{3}\)?[\s.\-]\d{3}[\s.\-]\d{4}",
    ),
)
PATTERNS.register("web-address")(
    Pattern("web-address", "web-address", "web addresses", r"(?:https?://|www\.)\S+"),
)
PATTERNS.register("ip-address")(
    Pattern(
        "ip-address",
        "network-address",
        "addresses in the internet",
        rf"{_BYTE}(?:\.{_BYTE}){{3}}|(?:[0-9A-Fa-f]{{1,4}}:){{7}}[0-9A-Fa-f]{{1,4}}",
    ),
)
PATTERNS.register("mac-address")(
    Pattern("mac-address", "device", "addresses of network cards", r"[0-9A-Fa-f]{2}(?:[:\-][0-9A-Fa-f]{2}){5}"),
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
