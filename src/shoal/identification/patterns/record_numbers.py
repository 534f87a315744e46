"""Record numbers of hospitals and registries: letters or a year, then digits, unique for most records."""

from shoal.identification.patterns.pattern import PATTERNS, Pattern

PATTERNS.register("record-number")(
    Pattern(
        "record-number",
        "record-number",
        "record numbers",
        r"[A-Za-z]{1,6}[\-_/. ]?\d{4,12}|(?:19|20)\d{2}[\-_/]\d{3,9}",
        single=0.5,
        fewest=5,
        sure=False,
    ),
)
