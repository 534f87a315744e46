"""Evaluation of sensitive variables in wide tables, with too many combinations to count.

The most disclosive combination is searched for instead.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ModelError
from shoal.individuals.protection import Protection, alternatives, at
from shoal.individuals.question import Question
from shoal.individuals.variable import Variable
from shoal.kernels.subset_search import MOST, Found, largest_shares
from shoal.kernels.subsets import NONE
from shoal.remedy import Option, by, either
from shoal.subsets import SubsetCounts

SECONDS = 60.0  # default time limit of a search
DEPTHS = 3  # number of attributes up to which the smallest breaching number is determined


def look_searched(
    counted: SubsetCounts,
    hidden: Sequence[str],
    known: Sequence[str],
    question: Question,
    progress: Callable[[int, int], None],
) -> dict[str, Variable]:
    """Evaluate sensitive variables in a table whose combinations are too many to count."""
    if len(counted.columns) > MOST:
        raise ModelError(
            "too-many-combinations",
            "{columns:column} have too many combinations to search.",
            remedy=either(
                by("Choose at most {most} columns", Option("auxiliary")),
                by("limit the number of known variables", Option("most", 3)),
            ),
            columns=len(counted.columns),
            most=MOST,
        )
    rows, sensitive, auxiliary = counted.rows, counted.subset(hidden), counted.subset(known)

    def search(most: int | None, chosen: NDArray[np.bool_] | None, seconds: float | None) -> Found:
        return largest_shares(
            rows.columns,
            rows.weights,
            sensitive,
            auxiliary,
            most=most,
            chosen=chosen,
            seconds=seconds,
            threads=2,
            progress=progress,
        )

    asked = np.ones((len(counted.columns), len(rows)), bool)
    if question.sampled is not None:
        asked &= question.sampled > 0
    seconds = SECONDS if question.seconds is None else question.seconds
    searched = search(question.most, asked, seconds)
    deepest, smallest = _smallest(search, question, _breached(searched, question.p) & asked, seconds)
    return {
        name: _variable(
            counted, name, [other for other in known if other != name], searched, smallest, deepest, question
        )
        for name in hidden
    }


def _smallest(
    search: Callable[[int | None, NDArray[np.bool_] | None, float | None], Found],
    question: Question,
    breached: NDArray[np.bool_],
    seconds: float,
) -> tuple[int, NDArray[np.uint8]]:
    """Return the number of known attributes that were tried, and the smallest number that breaches.

    Where more attributes are needed than were tried, the latter is the number tried plus one.
    """
    smallest = np.full(breached.shape, NONE, np.uint8)
    left, end, tried = breached.copy(), monotonic() + seconds, 0
    for depth in range(1, min(question.most or DEPTHS, DEPTHS) + 1):
        searched = search(depth, left, max(end - monotonic(), 0))
        if not searched.finished:
            break
        here = left & _breached(searched, question.p)
        smallest[here], tried = depth, depth
        left &= ~here
    smallest[left] = tried + 1
    return tried, smallest


def _breached(searched: Found, p: Fraction) -> NDArray[np.bool_]:
    protective = (searched.peers - searched.same).astype(object)
    return np.asarray(protective * p.denominator <= searched.peers.astype(object) * p.numerator, bool)


def _variable(  # noqa: PLR0913, PLR0917 - all results of the search
    counted: SubsetCounts,
    name: str,
    known: Sequence[str],
    searched: Found,
    smallest: NDArray[np.uint8],
    deepest: int,
    question: Question,
) -> Variable:
    variable, auxiliary = counted.names.index(name), counted.subset(known)
    least = Protection(
        variable,
        searched.subset[variable],
        searched.peers[variable].astype(np.int64),
        searched.same[variable].astype(np.int64),
    )
    return Variable(
        name=name,
        known=tuple(known),
        domain=counted.columns[variable].size,
        least=least,
        full=at(counted, variable, auxiliary),
        others=alternatives(counted, variable, auxiliary) if question.most is None else None,
        smallest=smallest[variable],
        deepest=deepest,
        combinations=question.number(auxiliary),
        at_least=None if searched.finished else 1 - searched.at_most[variable],
    )
