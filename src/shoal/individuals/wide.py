"""Wide tables: too many combinations to count them all, so the one that tells most is searched for."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ModelError
from shoal.individuals.people import Variable
from shoal.individuals.protection import Protection, alternatives, at
from shoal.kernels.subset_search import MOST, Found, largest_shares
from shoal.kernels.subsets import NONE
from shoal.subsets import SubsetCounts

SECONDS = 60.0  # for which is searched unless told otherwise
DEPTHS = 3  # up to so many facts, the smallest number that breaches is found out


def look_at_all(  # noqa: PLR0913 - keyword-only options
    counted: SubsetCounts,
    hidden: Sequence[str],
    known: Sequence[str],
    *,
    p: Fraction,
    most: int | None,
    seconds: float | None,
    progress: Callable[[int, int], None],
) -> dict[str, Variable]:
    """Take variables as sensitive, one after the other, in a table whose combinations cannot all be counted."""
    _check(counted)
    rows, sensitive, auxiliary = counted.rows, counted.subset(hidden), counted.subset(known)

    def search(most: int | None, limit: float | None) -> Found:
        return largest_shares(
            rows.columns, rows.weights, sensitive, auxiliary, most=most, seconds=limit, progress=progress
        )

    found = search(most, SECONDS if seconds is None else seconds)
    deepest = min(most or DEPTHS, DEPTHS)
    smallest = _smallest(search, p, deepest, found)
    return {
        name: _variable(counted, name, [other for other in known if other != name], found, smallest, deepest, most)
        for name in hidden
    }


def _check(counted: SubsetCounts) -> None:
    if len(counted.columns) > MOST:
        raise ModelError(
            f"{len(counted.columns)} columns have too many combinations.",
            hint=f"Choose at most {MOST}: sensitive=…, auxiliary=….",
        )
    if len(counted.rows.weights) != len(counted.rows) or any(code is not None for code in counted.rows.apart):
        raise ModelError(
            f"All combinations of {len(counted.columns)} columns do not fit into memory, and the search for wide tables"
            " counts neither persons with several different records, nor missing values that match nothing.",
            hint="Leave columns out.",
        )


def _smallest(
    search: Callable[[int | None, float | None], Found], p: Fraction, deepest: int, whole: Found
) -> NDArray[np.uint8]:
    """Return the smallest number of facts that breaches, or one more than was tried where it takes more."""
    smallest = np.full(whole.same.shape, NONE, np.uint8)
    smallest[_breached(whole, p)] = deepest + 1
    for depth in range(deepest, 0, -1):
        smallest[_breached(search(depth, None), p)] = depth
    return smallest


def _breached(found: Found, p: Fraction) -> NDArray[np.bool_]:
    protective = (found.peers - found.same).astype(object)
    return np.asarray(protective * p.denominator <= found.peers.astype(object) * p.numerator, bool)


def _variable(  # noqa: PLR0913, PLR0917 - what is known about it
    counted: SubsetCounts,
    name: str,
    known: Sequence[str],
    found: Found,
    smallest: NDArray[np.uint8],
    deepest: int,
    most: int | None,
) -> Variable:
    variable = counted.names.index(name)
    auxiliary = counted.subset(known)
    least = Protection(
        variable, found.subset[variable], found.peers[variable].astype(np.int64), found.same[variable].astype(np.int64)
    )
    return Variable(
        name=name,
        known=tuple(known),
        domain=len(counted.columns[variable].values),
        least=least,
        full=at(counted, variable, auxiliary),
        others=alternatives(counted, variable, auxiliary),
        smallest=smallest[variable],
        deepest=deepest,
        combinations=sum(comb(len(known), size) for size in range(1, min(most or len(known), len(known)) + 1)),
        at_least=None if found.finished else 1 - found.at_most[variable],
    )
