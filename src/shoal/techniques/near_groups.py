"""Near groups: points are grouped so that each group has enough persons and a small sum of squares.

Points of enough persons are groups of their own. Up to a number of points, groups are formed among all of them,
otherwise within blocks, which are cut at medians as in Mondrian. A local search then exchanges points between groups,
also across the borders of blocks; few points are also grouped anew in small neighbourhoods.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.microaggregation import NONE, Coordinates, Labels, Persons, k_member, mdav, univariate, v_mdav
from shoal.kernels.regrouping import regrouped
from shoal.kernels.threads import in_threads
from shoal.progress import Hook, Progress
from shoal.techniques.restarts import restarted
from shoal.techniques.squares import centres_of, sum_of_squares, with_rest

Block = NDArray[np.intp]
Method = Callable[[Coordinates, Persons, int], Labels]
GAMMAS = (0.0, 0.2, 0.8, 1.1)
METHODS: Mapping[str, Sequence[Method]] = {
    "mdav": (mdav,),
    "v-mdav": tuple(partial(v_mdav, gamma=gamma) for gamma in GAMMAS),
    "k-member": (k_member,),
}
FEW = 5_000  # points up to which all methods are tried
WHOLE = 50_000  # points up to which groups are formed among all of them
_BLOCK = 5_000  # points of a block of k-member, whose work grows with their square
_SEARCHED = 1_000  # groups among which the local search looks for neighbours
_THREADS = 2
_EXCHANGING = "exchanging records between groups"
_SHIFTS = (0.5, 0.35, 0.65)  # where blocks of groups are cut in two, in turn, so that borders move


def near_groups(  # noqa: PLR0913 - the points, and how to group them
    points: Coordinates, persons: Persons, k: int, method: str | None, progress: Hook, *, refine: bool = True
) -> Labels:
    """Return the group of each point; every group has at least k persons.

    ``method``: that which forms the groups; None: all, of which the best result is kept, or MDAV for many points.
    ``refine``: whether to search for better groups. All points together have at least k persons.

    >>> from shoal.progress import silent
    >>> points = np.array([[1.0], [2.0], [8.0], [9.0], [9.5]])
    >>> near_groups(points, np.ones(5, np.uint32), 2, None, silent).tolist()
    [0, 0, 1, 1, 1]
    """
    if points.shape[1] == 1 and method is None:
        order = np.argsort(points[:, 0], kind="stable")
        labels = np.zeros(len(points), np.uint32)
        labels[order] = univariate(points[order, 0], persons[order], k)
        return labels
    found = (_formed(points, persons, k, each, progress, refine=refine) for each in _chosen(method, len(points)))
    best = min(found, key=lambda labels: sum_of_squares(points, persons, labels))
    return restarted(points, persons, best, k, progress) if refine and len(points) <= FEW else best


def _chosen(method: str | None, points: int) -> Sequence[Method]:
    """Return the methods to try: the given one, all, or MDAV for many points."""
    if method is not None:
        return METHODS[method]
    return tuple(each for methods in METHODS.values() for each in methods) if points <= FEW else METHODS["mdav"]


def _formed(  # noqa: PLR0913 - the points, and how to group them
    points: Coordinates, persons: Persons, k: int, method: Method, progress: Hook, *, refine: bool
) -> Labels:
    """Return the groups of one method, after the local search."""
    labels = np.full(len(points), NONE, np.uint32)
    heavy = np.flatnonzero(persons >= k)
    light = np.flatnonzero(persons < k)
    size = max(_BLOCK if method is k_member else WHOLE, 20 * k)
    blocks = [light[block] for block in _blocks(points[light], persons[light], size)]
    formed = _in_blocks(blocks, lambda block: method(points[block], persons[block], k), "forming groups", progress)
    number = _numbered(labels, blocks, formed)
    if refine and number > 1:
        grouped = np.flatnonzero(labels != NONE)
        labels[grouped] = _searched(points[grouped], persons[grouped], labels[grouped], k, progress)
        number = int(labels[grouped].max()) + 1
    labels[heavy] = number + np.arange(len(heavy), dtype=np.uint32)
    return with_rest(points, persons, labels)


def _searched(points: Coordinates, persons: Persons, labels: Labels, k: int, progress: Hook) -> Labels:
    """Exchange points between neighbouring groups, block by block of groups, with borders that move."""
    labels = labels.copy()
    for shift in _SHIFTS:
        centres, weights = centres_of(points, persons, labels), np.bincount(labels, persons).astype(np.uint32)
        blocks = list(_blocks(centres, weights, _SEARCHED, shift))
        block_of = np.empty(len(centres), np.int64)
        for number, block in enumerate(blocks):
            block_of[block] = number
        order = np.argsort(block_of[labels], kind="stable")
        ends = np.searchsorted(block_of[labels][order], np.arange(len(blocks) + 1))
        members = [order[first:last] for first, last in pairwise(ends)]
        better = _in_blocks(members, partial(_regrouped, points, persons, labels, k), _EXCHANGING, progress)
        _numbered(labels, members, better)
        if len(blocks) == 1:
            break
    return labels


def _regrouped(points: Coordinates, persons: Persons, labels: Labels, k: int, block: Block) -> Labels:
    """Return better groups of the points of a block, which contains whole groups."""
    own = np.unique(labels[block], return_inverse=True)[1].astype(np.uint32)
    return regrouped(points[block], persons[block], own, k)


def _in_blocks(
    blocks: Sequence[Block], work: Callable[[Block], Labels], doing: str, progress: Hook
) -> Sequence[Labels]:
    """Return the result for each block; the blocks are processed in several threads."""
    results: list[Labels] = [np.zeros(0, np.uint32)] * len(blocks)

    def run(number: int) -> None:
        results[number] = work(blocks[number])

    in_threads(run, range(len(blocks)), _THREADS, lambda done, total: progress(Progress(doing, done, total)))
    return results


def _numbered(labels: Labels, blocks: Sequence[Block], results: Sequence[Labels]) -> int:
    """Write the groups of all blocks, numbered one after the other; return their number."""
    number = 0
    for block, own in zip(blocks, results, strict=True):
        labels[block] = np.where(own == NONE, NONE, own + np.uint32(number))
        number += len(np.unique(own[own != NONE]))
    return number


def _blocks(points: Coordinates, persons: Persons, most: int, share: float = 0.5) -> Iterator[NDArray[np.intp]]:
    """Yield blocks of at most ``most`` points, cut across the widest coordinate at a share of the persons."""
    waiting = [np.arange(len(points))] if len(points) else []
    while waiting:
        block = waiting.pop()
        if len(block) <= most:
            yield block
            continue
        inside = points[block]
        widest = int(np.argmax(np.ptp(inside, axis=0)))
        order = np.argsort(inside[:, widest], kind="stable")
        before = np.cumsum(persons[block][order].astype(np.float64))
        cut = int(np.clip(np.searchsorted(before, before[-1] * share), 1, len(block) - 1))
        waiting += [block[order[cut:]], block[order[:cut]]]
