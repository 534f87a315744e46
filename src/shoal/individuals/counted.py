"""Evaluation of sensitive variables in tables whose combinations have all been counted."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.individuals.protection import alternatives, at, weakest
from shoal.individuals.question import Question
from shoal.individuals.variable import Variable
from shoal.kernels.subsets import breaches
from shoal.subsets import SubsetCounts


def look_counted(counted: SubsetCounts, name: str, known: Sequence[str], question: Question) -> Variable:
    """Evaluate one variable as sensitive, given the variables that may be known."""
    if counted.counts is None:
        raise ValueError("not all subsets are counted")
    variable, auxiliary = counted.names.index(name), counted.subset(known)
    listed = list(question.subsets(auxiliary))
    breached = breaches(
        counted.counts, variable, auxiliary, p=question.p, most=question.most, empty=question.empty, threads=2
    )
    return Variable(
        name=name,
        known=tuple(known),
        domain=counted.columns[variable].size,
        least=weakest(counted, variable, listed, threads=2),
        full=at(counted, variable, auxiliary),
        others=fewest_others(counted, variable, listed, auxiliary, question.q[name]),
        smallest=breached.smallest,
        combinations=len(listed),
        telling=breached.subsets.astype(np.int64),
        breaches=breached,
    )


def fewest_others(
    counted: SubsetCounts, variable: int, listed: Sequence[int], auxiliary: int, q: Fraction
) -> NDArray[np.int64] | None:
    """Return the smallest number of alternatives over all combinations; None with tolerances.

    With q = 0, additional knowledge can only remove alternatives, so the combination of all known variables decides.
    """
    if counted.rows.near:
        return None
    if q == 0 and auxiliary in listed:
        return alternatives(counted, variable, auxiliary)
    fewest = alternatives(counted, variable, listed[0], q)
    for subset in listed[1:]:
        fewest = np.minimum(fewest, alternatives(counted, variable, subset, q))
    return fewest
