"""Eligibility: whether sensitive values are diverse enough for buckets (Xiao & Tao 2006)."""

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError
from shoal.remedy import Setting, either


def most_diverse(counts: NDArray[np.int64]) -> int:
    """Return the largest l for which buckets of l different values exist: no value is that of more than 1/l of all.

    >>> most_diverse(np.array([2, 2, 2])), most_diverse(np.array([4, 1, 1]))
    (3, 1)
    """
    return int(counts.sum()) // max(int(counts.max(initial=0)), 1)


def diversity(own: int | None, required: int) -> int:
    """Return l: the larger one of the option and what requirements demand; an error if there is neither."""
    size = max(own or 1, required)
    if size < 2:
        raise no_diversity()
    return size


def no_diversity() -> PolicyError:
    """Return the error for buckets without a number of different values."""
    return PolicyError(
        "no-diversity",
        "The number of different values per bucket is not given.",
        remedy=either(Setting("search.publish.l", 3), Setting("require", [{"model": "l-diversity", "l": 3}])),
    )


def check_eligible(name: str, counts: NDArray[np.int64], size: int) -> None:
    """Refuse more different values per bucket than the frequency of the values of a column allows."""
    largest = most_diverse(counts)
    if size > largest:
        possible = Setting("search.publish", "permutation") if largest < 2 else Setting("search.publish.l", largest)
        raise PolicyError(
            "not-eligible",
            "Among the released individuals, a value of column '{column}' is too frequent for buckets of {size} "
            "different values.",
            remedy=[f"The largest possible l is {largest}.", either(possible)],
            column=name,
            size=size,
        )
