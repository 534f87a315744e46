"""Partial knowledge: the classes seen by an adversary who knows only some of the quasi-identifiers."""

from collections.abc import Iterator
from itertools import combinations
from math import comb

from shoal.classes.classes import Classes
from shoal.classes.grouped import Coarsening
from shoal.errors import ModelError

MOST = 50_000  # maximum number of combinations


def known_partly(classes: Classes, most: int) -> Iterator[Classes]:
    """Yield the classes for each combination of at least one and at most ``most`` known quasi-identifiers.

    With fewer known columns, classes are unions of those with more: none is smaller, and no value is more certain.
    Therefore only the largest combinations are evaluated, unless a person may be in several classes.

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
