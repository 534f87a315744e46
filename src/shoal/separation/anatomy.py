"""Anatomy: buckets of different values, in which no person has two places (Xiao & Tao 2006)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.dealing import dealt
from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes
from shoal.separation.eligibility import most_diverse

_ROUNDS = 200  # of exchanges between buckets until no person has two places in one
_RESTARTS, _FEW = 20, 2000  # further deals if exchanges fail, with at most so many places
Buckets = NDArray[np.uint32]


def anatomised(
    values: Codes, size: int, random: Words, persons: NDArray[np.integer[Any]] | None = None
) -> Buckets | None:
    """Return the bucket of each place: ⌊n/``size``⌋ buckets of at least ``size`` places with different values.

    The places have a random order, in which those with equal values are dealt. ``random``: two random words for each
    place. ``persons``: the person of each place, if persons have several; no bucket contains a person twice. None if no
    such buckets were found.

    >>> words = np.arange(12, dtype=np.uint64)
    >>> anatomised(np.array([0, 0, 1, 1, 2, 2]), 3, words).tolist()
    [0, 1, 0, 1, 0, 1]
    >>> anatomised(np.array([0, 0, 0, 1]), 2, words) is None
    True
    """
    counts = np.bincount(values, minlength=1).astype(np.int64)
    if size > most_diverse(counts):
        return None
    of_place, draws = (
        _dealt(values, counts, size, random, persons),
        np.random.Generator(np.random.Philox(key=random[:2])),
    )
    for _ in range(_RESTARTS if len(values) <= _FEW else 0):
        if of_place is not None:
            break
        of_place = _dealt(values, counts, size, draws.permutation(random), persons)
    return of_place


def _dealt(
    values: Codes,
    counts: NDArray[np.int64],
    size: int,
    random: Words,
    persons: NDArray[np.integer[Any]] | None,
) -> Buckets | None:
    """Deal the places into buckets, and exchange them until no bucket contains a person twice; None if it fails."""
    places = np.argsort(values, kind="stable")  # those of a value are next to each other, in random order
    firsts = np.cumsum(counts) - counts
    contents, left = dealt(counts, size, random[: len(values)])
    slots = np.argsort(contents.reshape(-1), kind="stable")
    is_left = np.zeros(len(values), bool)
    is_left[(firsts + counts - 1)[left > 0]] = True
    of_place = np.zeros(len(values), np.uint32)
    of_place[places[~is_left]] = slots // size
    for place, word in zip(places[is_left], random[-size:], strict=False):
        of_place[place] = np.uint32(len(contents))  # in no bucket yet
        free = np.ones(len(contents) + 1, bool)
        free[-1] = False
        free[of_place[values == values[place]]] = False
        choice = np.flatnonzero(free)
        of_place[place] = choice[int(word % np.uint64(len(choice)))]
    return of_place if persons is None else _apart(of_place, values, persons, (places, firsts, counts), random)


def _apart(
    of_place: Buckets,
    values: Codes,
    persons: NDArray[np.integer[Any]],
    runs: tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]],
    random: Words,
) -> Buckets | None:
    """Exchange places of the same value between buckets until no bucket contains a person twice; None if it fails.

    ``runs``: the places in the order of their values, and the first one and the number of each value.
    """
    places, firsts, counts = runs
    several = np.flatnonzero(np.bincount(persons)[persons] > 1)
    draws = np.random.Generator(np.random.Philox(key=random[:2]))
    for _ in range(_ROUNDS):
        shuffled = draws.permutation(several)
        ranked = shuffled[np.lexsort([persons[shuffled], of_place[shuffled]])]
        again = (np.diff(of_place[ranked]) == 0) & (np.diff(persons[ranked]) == 0)
        moving = ranked[1:][again]
        if not len(moving):
            return of_place
        others = places[firsts[values[moving]] + draws.integers(0, counts[values[moving]])]
        involved, times = np.unique(np.concatenate([moving, others]), return_counts=True)
        once = np.isin(moving, involved[times == 1]) & np.isin(others, involved[times == 1])
        one, other = moving[once], others[once]
        of_place[one], of_place[other] = of_place[other], of_place[one]
    return None
