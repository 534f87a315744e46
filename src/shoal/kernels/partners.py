"""Random partners: ranks are paired within a window, each with at most one other."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address
from shoal.kernels.siphash import Words, siphash

Ranks: TypeAlias = NDArray[np.int64]


def partners(words: Words, window: int) -> Ranks:
    """Return a partner for each rank, at most ``window`` ranks apart; ranks without a free partner keep their own.

    In each round, every free rank proposes to a random free rank of its window. A pair is formed if its random number
    is the smallest among all proposals to or from either of them. ``words``: a random word for each rank.

    >>> pairs = partners(np.arange(8, dtype=np.uint64), 2)
    >>> (pairs[pairs] == np.arange(8)).all(), np.abs(pairs - np.arange(8)).max()
    (np.True_, np.int64(2))
    """
    if window < 0 or words.dtype != np.uint64:
        raise TypeError("words are unsigned integers, and the window is not negative")
    pairs: Ranks = np.arange(len(words), dtype=np.int64)
    free: Ranks = pairs.copy()
    native = library.core()
    if native is not None:
        given = np.ascontiguousarray(words)
        buffers = [np.empty_like(free), np.empty_like(given), np.empty_like(given)]
        native.shoal_partners(address(given), len(given), window, *map(address, (pairs, free, *buffers)))
        return pairs
    turn = 0
    while True:
        first, last = np.searchsorted(free, free - window), np.searchsorted(free, free + window, "right")
        able = np.flatnonzero(last - first > 1)
        if not len(able):
            return pairs
        free, turn = _paired(pairs, free, able, (first, last), siphash((turn, 1), [words[free]])), turn + 1


def _paired(pairs: Ranks, free: Ranks, able: Ranks, within: tuple[Ranks, Ranks], drawn: Words) -> Ranks:
    """Form pairs in one round, and return the ranks that remain free.

    ``able``: the places among the free ranks that have others ``within`` their window.
    """
    first, last = (ends[able] for ends in within)
    choice = drawn[able]
    chosen = first + (choice % (last - first - 1).astype(np.uint64)).astype(np.int64)
    chosen += chosen >= able  # nobody proposes to oneself
    smallest = np.full(len(free), np.iinfo(np.uint64).max)
    smallest[able] = choice
    np.minimum.at(smallest, chosen, choice)
    formed = (smallest[able] == choice) & (smallest[chosen] == choice)
    one, other = free[able[formed]], free[chosen[formed]]
    pairs[one], pairs[other] = other, one
    left = np.ones(len(free), bool)
    left[able[formed]] = left[chosen[formed]] = False
    return free[left]
