"""Regrouping: a local search for groups of near points with a smaller sum of squares.

The points of two neighbouring groups are divided anew along the line between their centres, where the gain is largest
and both groups keep k persons; a group with at least 2k persons is divided in two. This swaps and moves points between
groups as long as the sum of squared distances from the centres of groups becomes smaller.
"""

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address
from shoal.kernels.microaggregation import Coordinates, Labels, Persons

NEIGHBOURS, STEPS = 8, 8  # as in regrouping.c
CLEAR = 1e-12  # as in regrouping.c
ROUNDS = 50  # maximum number of rounds


class _Groups(ctypes.Structure):
    _fields_ = (
        ("points", ctypes.c_void_p),
        ("persons", ctypes.c_void_p),
        ("columns", ctypes.c_int64),
        ("room", ctypes.c_int64),
        ("groups", ctypes.c_int64),
        ("most", ctypes.c_int64),
        ("least", ctypes.c_uint64),
        ("members", ctypes.c_void_p),
        ("sizes", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
        ("centres", ctypes.c_void_p),
        ("changed", ctypes.c_void_p),
    )


class _Pair(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_void_p) for name in ("ids", "apart", "keys", "whole", "left", "right", "direction", "sum")
    )


def regrouped(points: Coordinates, persons: Persons, labels: Labels, k: int, rounds: int = ROUNDS) -> Labels:
    """Return groups with a smaller sum of squares, starting from the given ones, of which none is empty.

    >>> points = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> regrouped(points, np.ones(6, np.uint32), np.array([0, 1, 0, 1, 0, 1], np.uint32), 3).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    points = np.ascontiguousarray(points, np.float64)
    start = _Start.of(persons, labels, k)
    native = library.core()
    if native is None:
        return _Twin(points, persons.astype(np.int64), start, k).regrouped(rounds)
    columns = points.shape[1]
    persons = np.ascontiguousarray(persons, np.uint32)
    members, sizes = start.members.copy(), start.sizes.copy()
    centres, weights = np.zeros((start.most, columns)), np.zeros(start.most, np.uint64)
    changed, at = np.zeros(start.most, np.int64), np.repeat(np.arange(start.groups), start.sizes[: start.groups])
    ids = members[: start.groups].ravel()[_filled(sizes[: start.groups], start.room)]
    heavy = persons[ids].astype(np.float64)
    for column in range(columns):
        centres[: start.groups, column] = np.bincount(at, heavy * points[ids, column], start.groups)
    weights[: start.groups] = np.bincount(at, heavy, start.groups).astype(np.uint64)
    centres[: start.groups] /= weights[: start.groups, None].astype(np.float64)
    given = (address(points), address(persons), columns, start.room, start.groups, start.most, k)
    groups = _Groups(*given, *(address(array) for array in (members, sizes, weights, centres, changed)))
    room = 2 * start.room
    scratch: list[NDArray[Any]] = [np.empty(room, np.uint32), np.empty((room, columns)), np.empty(room)]
    scratch += [np.empty(columns) for _ in range(5)]
    pair, kept = _Pair(*(address(array) for array in scratch)), np.empty(room, np.uint32)
    native.shoal_regroup(ctypes.byref(groups), ctypes.byref(pair), address(kept), rounds)
    return _labels(members, sizes[: groups.groups], len(points))


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    """The groups at the start, and room for more: ``most`` groups of at most ``room`` points."""

    members: NDArray[np.uint32]
    sizes: NDArray[np.int64]
    groups: int
    room: int
    most: int

    @classmethod
    def of(cls, persons: Persons, labels: Labels, k: int) -> "_Start":
        sizes = np.bincount(labels)
        weights = np.bincount(labels, persons.astype(np.float64)).astype(np.int64)
        room = int(max(sizes.max(), min(3 * k, len(labels))))
        most = max(len(sizes), int(weights.sum()) // k)
        members = np.zeros((most, room), np.uint32)
        order = np.argsort(labels, kind="stable").astype(np.uint32)
        members[: len(sizes)].ravel()[_filled(sizes, room)] = order
        return cls(members, np.append(sizes, np.zeros(most - len(sizes), np.int64)), len(sizes), room, most)


def _filled(sizes: NDArray[np.int64], room: int) -> NDArray[np.bool_]:
    """Return which cells of the members of groups are filled."""
    return np.asarray(np.arange(room) < sizes[:, None]).ravel()


def _labels(members: NDArray[np.uint32], sizes: NDArray[np.int64], points: int) -> Labels:
    """Return the group of each point; groups are numbered by their first point."""
    labels = np.zeros(points, np.uint32)
    labels[members[: len(sizes)].ravel()[_filled(sizes, members.shape[1])]] = np.repeat(np.arange(len(sizes)), sizes)
    first = np.unique(labels, return_index=True)[1]
    rank = np.empty(len(sizes), np.uint32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(sizes), dtype=np.uint32)
    return rank[labels]


class _Twin:
    """The local search without the C core: the same steps in the same order."""

    def __init__(self, points: Coordinates, persons: NDArray[np.int64], start: _Start, k: int) -> None:
        self._points, self._persons, self._k = points, persons, k
        self._room, self._most = start.room, start.most
        self._members = [start.members[group, : start.sizes[group]].astype(np.intp) for group in range(start.groups)]
        self._centres = [self._centre(members) for members in self._members]

    def regrouped(self, rounds: int) -> Labels:
        """Divide groups and their neighbours anew until nothing changes."""
        changed, last, number = [0] * len(self._members), 0, 1
        while number <= rounds and last >= number - 1:
            group = 0
            while group < len(self._members):
                while self._split(group):
                    changed.append(number)
                    changed[group] = last = number
                for other in self._neighbours(group):
                    recent = max(changed[group], changed[other]) >= number - 1
                    if recent and self._redivide(group, other):
                        changed[group] = changed[other] = last = number
                group += 1
            number += 1
        sizes = np.array([len(members) for members in self._members])
        members = np.zeros((len(sizes), int(sizes.max())), np.uint32)
        members.ravel()[_filled(sizes, members.shape[1])] = np.concatenate(self._members)
        return _labels(members, sizes, len(self._points))

    def _weighted(self, ids: NDArray[np.intp], places: Coordinates) -> Coordinates:
        """Return the weighted sum of some points, added up in their order."""
        heavy = self._persons[ids].astype(np.float64)
        return np.asarray(np.add.accumulate(heavy[:, None] * places, axis=0)[-1])

    def _centre(self, ids: NDArray[np.intp]) -> Coordinates:
        return self._weighted(ids, self._points[ids]) / float(self._persons[ids].sum())

    def _neighbours(self, group: int) -> list[int]:
        apart = _squares(np.array(self._centres) - self._centres[group])
        apart[group] = np.inf
        near = np.argsort(apart, kind="stable")[: min(NEIGHBOURS, len(apart) - 1)]
        return [int(other) for other in near]

    def _redivide(self, a: int, b: int) -> bool:
        ids, cut = np.concatenate([self._members[a], self._members[b]]), len(self._members[a])
        whole = self._centre(ids)
        (gain, left), (more, right) = (self._gain(part, whole) for part in (ids[:cut], ids[cut:]))
        start = gain = gain + more
        halves = self._halve(ids, whole, right - left, gain)
        if halves is not None:
            gain, cut, ids = halves
        gain, cut = self._exchange(ids, cut, whole, gain)
        if not gain > start:
            return False
        for group, members in zip((a, b), (ids[:cut], ids[cut:]), strict=True):
            self._members[group], self._centres[group] = members, self._centre(members)
        return True

    def _exchange(self, ids: NDArray[np.intp], cut: int, whole: Coordinates, gain: float) -> tuple[float, int]:
        """Swap and move points between two groups as long as that increases the gain; ``ids`` are reordered."""
        while True:
            apart, heavy = self._points[ids] - whole, self._persons[ids].astype(np.float64)
            sums = np.add.accumulate(heavy[:cut, None] * apart[:cut], axis=0)[-1]
            here, one, two = self._best_step(apart, heavy, cut, sums)
            if not here > gain + CLEAR * (gain + here):
                return gain, cut
            ids[[one, two]] = ids[[two, one]]
            gain, cut = here, cut + int(one == cut) - int(two == cut - 1)

    def _best_step(self, apart: Coordinates, heavy: Coordinates, cut: int, sums: Coordinates) -> tuple[float, int, int]:
        """Return the largest gain of a swap or a move, and the places of the points that it exchanges.

        The place after the first group, or its last place, stands for no point.
        """
        none, size = np.zeros((1, apart.shape[1])), len(apart)
        leaving, entering = np.append(0.0, heavy[:cut]), np.append(0.0, heavy[cut:])
        out, into = np.concatenate([none, apart[:cut]]), np.concatenate([none, apart[cut:]])
        first = heavy[:cut].sum() - leaving[:, None] + entering[None, :]
        second = heavy.sum() - first
        squares = np.zeros(first.shape)
        for column in range(apart.shape[1]):
            moved = sums[column] - leaving[:, None] * out[:, column, None] + entering[None, :] * into[None, :, column]
            squares += moved * moved
        allowed = (first >= self._k) & (second >= self._k)
        allowed[0, 0] = False
        allowed[0] &= cut != self._room
        allowed[1:, 0] &= size - cut != self._room
        gains = np.where(allowed, squares * (1 / np.maximum(first, 1) + 1 / np.maximum(second, 1)), -1.0)
        row, place = divmod(int(np.argmax(gains)), gains.shape[1])
        one, two = cut if row == 0 else row - 1, cut - 1 if place == 0 else cut + place - 1
        return max(float(gains[row, place]), 0.0), one, two

    def _split(self, group: int) -> bool:
        ids, whole = self._members[group], self._centres[group]
        if self._persons[ids].sum() < 2 * self._k or len(self._members) == self._most:
            return False
        apart = self._points[ids] - whole
        halves = self._halve(ids, whole, apart[int(np.argmax(_squares(apart)))], 0.0)
        if halves is None:
            return False
        _, cut, ids = halves
        self._members[group], self._centres[group] = ids[:cut], self._centre(ids[:cut])
        self._members.append(ids[cut:])
        self._centres.append(self._centre(ids[cut:]))
        return True

    def _gain(self, ids: NDArray[np.intp], whole: Coordinates) -> tuple[float, Coordinates]:
        """Return the gain of a group of some points, and its centre from the common one."""
        sums, weight = self._weighted(ids, self._points[ids] - whole), float(self._persons[ids].sum())
        return float(_squares(sums[None])[0]) / weight, sums / weight

    def _halve(
        self, ids: NDArray[np.intp], whole: Coordinates, direction: Coordinates, gain: float
    ) -> tuple[float, int, NDArray[np.intp]] | None:
        """Return the gain, the place and the order of the best division of some points; None if none is better."""
        best = None
        for _ in range(STEPS):
            apart, keys = self._points[ids] - whole, np.zeros(len(ids))
            for column, part in enumerate(direction):
                keys += apart[:, column] * part
            order = np.lexsort((ids, keys))
            ids, apart = ids[order], apart[order]
            cut, here = self._best_cut(ids, apart)
            if not cut or not here > gain + CLEAR * (gain + here):
                break
            gain, best = here, (here, cut, ids.copy())
            direction = self._gain(ids[cut:], whole)[1] - self._gain(ids[:cut], whole)[1]
        return best

    def _best_cut(self, ids: NDArray[np.intp], apart: Coordinates) -> tuple[int, float]:
        """Return the best place to cut sorted points in two groups, and its gain; 0 if there is none."""
        heavy = self._persons[ids]
        before = np.cumsum(heavy)[:-1]
        after = int(heavy.sum()) - before
        sums = np.add.accumulate(heavy[:, None].astype(np.float64) * apart, axis=0)[:-1]
        places = np.arange(1, len(ids))
        allowed = (before >= self._k) & (after >= self._k)
        allowed &= (places <= self._room) & (len(ids) - places <= self._room)
        if not allowed.any():
            return 0, 0.0
        gains = _squares(sums) * (1 / before + 1 / np.maximum(after, 1))
        best = int(np.flatnonzero(allowed)[np.argmax(gains[allowed])])
        return best + 1, float(gains[best])


def _squares(rows: Coordinates) -> Coordinates:
    """Return the sum of squares of each row, added up column by column."""
    sums = np.zeros(len(rows))
    for column in range(rows.shape[1]):
        sums += rows[:, column] * rows[:, column]
    return sums
