"""Division of quasi-identifiers over the tables of a release."""

from collections.abc import Collection, Iterable


def divides(tables: Iterable[Collection[str]], quasi: Collection[str]) -> bool:
    """Return whether quasi-identifiers are in several tables, which then do not tell their combinations.

    ``tables``: the columns of each table.

    >>> known = ["age", "sex"]
    >>> divides([["age", "sex", "bucket"], ["bucket", "dx"]], known), divides([["age"], ["sex"]], known)
    (False, True)
    """
    return sum(any(name in names for name in quasi) for names in tables) > 1
