"""Eligibility: whether sensitive values are diverse enough for buckets (Xiao & Tao 2006)."""

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError
from shoal.remedy import Action, Setting, by, either


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


def check_eligible(name: str, counts: NDArray[np.int64], own: int | None, required: int) -> None:
    """Refuse more different values per bucket than the frequency of the values of a column allows.

    ``own``, ``required``: the numbers that the option and the requirements demand.
    """
    largest = most_diverse(counts)
    if max(own or 1, required) > largest:
        raise not_eligible(f"a value of column '{name}' is too frequent for", own, required, largest)


def not_eligible(reason: str, own: int | None, required: int, largest: int) -> PolicyError:
    """Return the error for a column without buckets of so many different values.

    ``largest``: the largest number of different values that is possible.
    """
    return PolicyError(
        "not-eligible",
        "Among the released individuals, {reason} buckets of {size} different values. {possible}",
        remedy=_reduction(own, required, largest),
        reason=reason,
        size=max(own or 1, required),
        possible=f"The largest possible l is {largest}." if largest > 1 else "No l is possible.",
    )


def _reduction(own: int | None, required: int, largest: int) -> str | Action:
    """Return what can be done: reduce the option, the requirement, or both."""
    if largest < 2:
        return either(
            by("Release one table without requirements on sensitive values", Setting("search.publish", "table")),
            "do not release the column",
        )
    if required <= largest:
        return Setting("search.publish.l", largest)
    both = "" if own is None or own <= largest else f", and set l = {largest} for the buckets"
    return f"Reduce the requirement on sensitive values to {largest} different ones{both}."
