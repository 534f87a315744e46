"""``shoal.advise``: what a release cost and why, what it still reveals, and what would cost less."""

from shoal.errors import ReleaseError
from shoal.progress import Hook, silent
from shoal.release.advice import Advice, AdviceBasis, advice
from shoal.release.release import Release

SECONDS = 10.0


def advise(release: Release, *, seconds: float | None = SECONDS, progress: Hook | None = None) -> Advice:
    """Give advice on a release: the columns that lost most, those that still reveal individuals, and alternatives.

    Alternatives are other techniques, and one quasi-identifier fewer. They are really made, for at most ``seconds``;
    None: all are made if there are few schemes and combinations, otherwise none.

    >>> import shoal
    >>> data = {"age": [31, 34, 38, 71, 74, 78], "sex": ["f", "m"] * 3, "days": [1, 2, 3, 4, 5, 6]}
    >>> release = shoal.anonymize(data, quasi=["age", "sex"], insensitive=["days"], k=2)
    >>> found = shoal.advise(release)
    >>> found.revealing[0].column, found.revealing[0].unique, found.persons
    ('days', 6, 6)
    """
    if release.policy.tables or len(release.tables) > 1:
        raise ReleaseError("several-tables", "Advice is given on releases of a single table.")
    if not release.table.quasi:
        raise ReleaseError("no-classes", "All quasi-identifiers are drawn at random, so there is no advice.")
    return advice(AdviceBasis.of(release), seconds, progress or silent)
