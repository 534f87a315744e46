"""The most disclosive subset of columns, for tables with too many columns to count all subsets.

Subsets are searched from small to large, one group of rows at a time. A group is pruned as soon as no further knowledge
about its rows can disclose more than the best subset found for them. With more columns known, the number of persons who
share the sensitive value decreases, and so does the number of those with other values, who protect it; the latter
number is smallest if all columns are known. The result is therefore exact, and if the time limit is reached, an upper
bound for the remaining subsets is still known.
"""

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.grouping import group_rows
from shoal.kernels.library import address
from shoal.kernels.threads import pool
from shoal.kernels.translation import Codes

MOST = 64  # columns
POLL = 0.1  # seconds between two progress reports
_ENUMERABLE = 1 << 20  # subsets that the numpy implementation enumerates


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Per sensitive column and row: the largest share, ``same / peers``, and the subset that attains it.

    ``at_most[s, i]``: an upper bound on the share; equal to the share if the search finished.
    """

    same: NDArray[np.uint32]
    peers: NDArray[np.uint32]
    subset: NDArray[np.uint64]
    at_most: NDArray[np.float64]
    finished: bool


@dataclass(frozen=True, slots=True, eq=False)
class SubsetTask:
    """The search task: ``sensitive`` and ``known`` columns as bit masks, and the maximum size of a subset, ``most``.

    ``chosen[s, i]``: whether column s of row i is included; None includes all.
    """

    columns: tuple[Codes, ...]
    weights: NDArray[np.int64]
    sensitive: int
    known: int
    most: int
    chosen: NDArray[np.bool_] | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.weights)

    def counted(self, subset: int) -> NDArray[np.uint32]:
        """Return, per row, the number of persons who agree with it in a subset of the columns."""
        chosen = [self.columns[place] for place in range(len(self.columns)) if subset >> place & 1]
        groups = group_rows(chosen, [int(column.max(initial=0)) + 1 for column in chosen], self.rows)
        return np.bincount(groups.ids, weights=self.weights)[groups.ids].astype(np.uint32)


def largest_shares(  # noqa: PLR0913 - keyword-only options
    columns: Sequence[Codes],
    weights: NDArray[np.int64],
    sensitive: int,
    known: int,
    *,
    most: int | None = None,
    chosen: NDArray[np.bool_] | None = None,
    seconds: float | None = None,
    threads: int = 1,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Found:
    """Find, per row and sensitive column, the most disclosive subset of the known columns.

    This is the non-empty subset A for which the largest share of the persons who agree in A also agree in the sensitive
    column. ``sensitive`` and ``known``: columns, as bit masks. ``most``: the maximum size of A. ``chosen[s, i]``:
    whether column s of row i is included; no subset is searched for the others. ``seconds``: the time limit, after
    which the bounds proved so far are returned. ``progress``: called repeatedly with the number of columns done and in
    total; an exception that it raises ends the search.

    >>> import numpy as np
    >>> age, sex = np.array([0, 0, 1], np.uint8), np.array([0, 1, 1], np.uint8)
    >>> found = largest_shares([age, sex], np.array([5, 1, 1]), 0b10, 0b01)
    >>> (found.same[1] / found.peers[1]).round(3).tolist(), found.finished
    ([0.833, 0.167, 1.0], True)
    """
    if len(columns) > MOST:
        raise ValueError(f"at most {MOST} columns")
    most = len(columns) if most is None else most
    task = SubsetTask(tuple(columns), weights, sensitive, known, most, chosen)
    native = library.core()
    if native is None:
        return _enumerated(task, seconds, progress)
    return _Search(native, task).run(seconds, threads, progress)


class _Search:
    """One run over all first columns, those with many values first, because they are the most disclosive.

    Arrays have one row per row of the table and one column per column of it, in this order.
    """

    def __init__(self, native: ctypes.CDLL, task: SubsetTask) -> None:
        self._native = native
        sizes = [int(column.max(initial=0)) + 1 for column in task.columns]
        self._order = sorted(range(len(sizes)), key=lambda place: -sizes[place])
        self._task = replace(
            task,
            columns=tuple(task.columns[place] for place in self._order),
            sensitive=_permuted(task.sensitive, self._order),
            known=_permuted(task.known, self._order),
        )
        shape = (task.rows, len(sizes))
        self._same, self._peers = np.zeros(shape, np.uint32), np.ones(shape, np.uint32)
        if task.chosen is not None:
            self._same[~task.chosen[self._order].T] = 1  # marks them as fully disclosed: not searched
        self._best, self._at_most = np.zeros(shape, np.uint64), np.zeros(shape)
        self._codes = np.stack([column.astype(np.uint32) for column in self._task.columns], axis=1)
        self._weights = task.weights.astype(np.uint32)
        self._size = max(sizes)
        self._stop = np.zeros(1, np.int32)

    def run(self, seconds: float | None, threads: int, progress: Callable[[int, int], None]) -> Found:
        begin = monotonic()
        firsts = [place for place in range(len(self._order)) if self._task.known >> place & 1]
        self._fewest(0)  # rows disclosed by all columns together need no search

        def over() -> bool:
            return seconds is not None and monotonic() - begin > seconds

        searches: list[Future[None]] = []
        try:
            for done, first in enumerate(reversed(firsts)):
                progress(done, len(firsts))
                self._stop[0] |= over()
                if self._stop[0]:
                    break
                fewest = self._fewest(first)
                searches = [pool().submit(self._search, first, part, fewest) for part in self._parts(threads)]
                while wait(searches, timeout=POLL).not_done:
                    progress(done, len(firsts))
                    self._stop[0] |= over()
                for search in searches:
                    search.result()
        except BaseException:
            self._stop[0] = 1
            wait(searches)
            raise
        if self._stop[0]:
            self._bound(self._fewest(0))
        return self._found()

    def _parts(self, threads: int) -> list[int]:
        """Divide the sensitive columns among threads, each of which writes the results of its own columns only."""
        members = _members(self._task.sensitive)
        return [sum(1 << place for place in members[part::threads]) for part in range(threads)]

    def _fewest(self, first: int) -> NDArray[np.uint32]:
        """Return the number of protective peers that remain if all columns from the first on are known."""
        suffix = self._task.known & ~((1 << first) - 1)
        fewest = np.zeros_like(self._same)
        whole = self._task.counted(suffix)
        for sensitive in _members(self._task.sensitive):
            bit = 1 << sensitive
            if suffix & bit and suffix != bit:
                fewest[:, sensitive] = self._seen(sensitive, suffix ^ bit, self._task.counted(suffix ^ bit), whole)
            elif suffix and not suffix & bit:
                fewest[:, sensitive] = self._seen(sensitive, suffix, whole, self._task.counted(suffix | bit))
        return fewest

    def _search(self, first: int, sensitive: int, fewest: NDArray[np.uint32]) -> None:
        """Search all subsets that begin with the given column."""
        task = self._task
        room = np.empty((len(task.columns) + 1) * task.rows, np.uint32)
        tally, places = np.zeros(self._size, np.uint32), np.zeros(self._size, np.uint32)
        arrays = (self._same, self._peers, self._best, self._open(sensitive), room, tally, places, self._stop)
        self._native.shoal_subset_search(
            address(self._codes),
            address(self._weights),
            address(fewest),
            task.rows,
            len(task.columns),
            first,
            task.most,
            sensitive,
            task.known,
            *(address(array) for array in arrays),
        )

    def _open(self, sensitive: int) -> NDArray[np.uint64]:
        """Return, per row, a bit mask of the sensitive columns that are not yet fully disclosed."""
        bits = np.zeros(self._task.rows, np.uint64)
        for place in _members(sensitive):
            bits |= (self._same[:, place] < self._peers[:, place]).astype(np.uint64) << np.uint64(place)
        return bits

    def _seen(
        self, sensitive: int, subset: int, peers: NDArray[np.uint32], same: NDArray[np.uint32]
    ) -> NDArray[np.uint32]:
        """Record a subset as a candidate if its size is allowed, and return the protective peers."""
        if subset.bit_count() <= self._task.most:
            seen = (self._same[:, sensitive], self._peers[:, sensitive])
            better = same.astype(np.uint64) * seen[1] > seen[0].astype(np.uint64) * peers
            seen[0][better], seen[1][better] = same[better], peers[better]
            self._best[better, sensitive] = subset
        return peers - same

    def _bound(self, fewest: NDArray[np.uint32]) -> None:
        """Record an upper bound on the shares of all subsets that were not searched.

        In each of these subsets, at least ``fewest`` protective peers remain.
        """
        for sensitive in _members(self._task.sensitive):
            everybody = self._task.counted(1 << sensitive).astype(np.float64)
            at_most = everybody / (fewest[:, sensitive] + everybody)
            self._at_most[:, sensitive] = np.maximum(self._at_most[:, sensitive], at_most)

    def _found(self) -> Found:
        back = np.argsort(self._order)
        subset = np.zeros_like(self._best)
        for place, column in enumerate(self._order):
            subset |= (self._best >> np.uint64(place) & np.uint64(1)) << np.uint64(column)
        at_most = np.maximum(self._at_most, self._same / self._peers)
        finished = not self._stop[0]
        return Found(
            self._same.T[back].copy(),
            self._peers.T[back].copy(),
            subset.T[back].copy(),
            at_most.T[back].copy(),
            finished,
        )


def _members(columns: int) -> list[int]:
    return [place for place in range(columns.bit_length()) if columns >> place & 1]


def _permuted(columns: int, order: Sequence[int]) -> int:
    return sum(1 << place for place, column in enumerate(order) if columns >> column & 1)


def _enumerated(task: SubsetTask, seconds: float | None, progress: Callable[[int, int], None]) -> Found:
    """Evaluate all subsets one by one."""
    if task.known >= _ENUMERABLE:
        raise ValueError("too many columns for the kernels in numpy")
    begin, finished = monotonic(), True
    subsets = [subset for subset in range(1, task.known + 1) if _is_tried(subset, task)]
    shape = (len(task.columns), task.rows)
    same, peers, best = np.zeros(shape, np.uint32), np.ones(shape, np.uint32), np.zeros(shape, np.uint64)
    for done, subset in enumerate(subsets):
        progress(done, len(subsets))
        if seconds is not None and monotonic() - begin > seconds:
            finished = False
            break
        all_ = task.counted(subset)
        for sensitive in _members(task.sensitive & ~subset):
            with_ = task.counted(subset | 1 << sensitive)
            better = with_.astype(np.uint64) * peers[sensitive] > same[sensitive].astype(np.uint64) * all_
            same[sensitive][better], peers[sensitive][better] = with_[better], all_[better]
            best[sensitive][better] = subset
    return Found(same, peers, best, same / peers if finished else np.ones(shape), finished)


def _is_tried(subset: int, task: SubsetTask) -> bool:
    return not subset & ~task.known and subset.bit_count() <= task.most
