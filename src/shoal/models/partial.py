"""Partial knowledge: what an adversary sees who knows some of the quasi-identifiers only."""

from collections.abc import Iterator
from itertools import combinations
from math import comb

from shoal.classes.classes import Classes
from shoal.classes.grouped import Coarsening
from shoal.errors import ModelError

MOST = 50_000  # combinations


def known_partly(classes: Classes, most: int) -> Iterator[Classes]:
    """Yield the classes of those who know at most so many quasi-identifiers, and at least one.

    Who knows fewer sees classes that are unions of these, in which no class is smaller and no value more certain: only
    the largest combinations are looked at, unless somebody may be in several classes.

    >>> import shoal
    >>> table = shoal.read({"age": [30, 30, 40], "sex": ["f", "m", "m"]})
    >>> [seen.sizes.tolist() for seen in known_partly(Classes.of(table, ["age", "sex"], []), 1)]
    [[2, 1], [1, 2]]
    """
    names = classes.quasi
    deepest = min(most, len(names))
    number = comb(len(names), deepest)
    if number > MOST:
        raise ModelError(
            "too-many-combinations",
            "There are {number:,} combinations of {known} of {columns:quasi-identifier}, which are too many to "
            "evaluate.",
            remedy="Limit the number of known attributes, or choose fewer columns.",
            number=number,
            known=deepest,
            columns=len(names),
        )
    for size in range(1 if classes.overlap else deepest, deepest + 1):
        for known in combinations(names, size):
            yield classes.rolled(
                {
                    attribute.name: Coarsening.dropped(attribute.size)
                    for attribute in classes.attributes
                    if attribute.name not in known
                }
            )
