"""Microaggregation: groups of near points with at least k persons each.

A point has coordinates and stands for some persons. Groups are numbered; points whose persons do not suffice for
another group receive the number ``NONE``.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address

Coordinates = NDArray[np.float64]
Persons = NDArray[np.uint32]
Labels = NDArray[np.uint32]
NONE = np.uint32(0xFFFFFFFF)


def mdav(points: Coordinates, persons: Persons, k: int) -> Labels:
    """Group points by MDAV: around the point farthest from the centre, and around the one farthest from that.

    Domingo-Ferrer & Mateo-Sanz 2002, generic form of Domingo-Ferrer & Torra 2005. A point of ``points[i, j]`` stands
    for ``persons[i]``, fewer than k. Of points at the same distance, the first is taken.

    >>> points = np.array([[0.0], [10.0], [1.0], [11.0], [0.5], [10.5]])
    >>> mdav(points, np.ones(6, np.uint32), 3).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    return _grouped(points, persons, k, lambda native, told: native.shoal_mdav(told), _Twin.mdav)


def v_mdav(points: Coordinates, persons: Persons, k: int, gamma: float) -> Labels:
    """Group points by V-MDAV: groups take further points that are nearer to them than to other points, times gamma.

    Solanas & Martínez-Ballesté 2006.

    >>> points = np.array([[0.0], [1.0], [1.5], [1.6], [9.0], [9.5]])
    >>> v_mdav(points, np.ones(6, np.uint32), 2, 1.1).tolist()
    [1, 1, 2, 2, 0, 0]
    """
    return _grouped(
        points,
        persons,
        k,
        lambda native, told: native.shoal_v_mdav(told, ctypes.c_double(gamma)),
        lambda twin: twin.v_mdav(gamma),
    )


def k_member(points: Coordinates, persons: Persons, k: int) -> Labels:
    """Group points by k-member: a group takes, one by one, the point that increases its sum of squares least.

    Byun et al. 2007. Each group starts at the point farthest from the start of the previous one.

    >>> k_member(np.array([[0.0], [1.0], [9.0], [9.5]]), np.ones(4, np.uint32), 2).tolist()
    [0, 0, 1, 1]
    """
    return _grouped(points, persons, k, lambda native, told: native.shoal_k_member(told), _Twin.k_member)


def univariate(values: Coordinates, persons: Persons, k: int) -> Labels:
    """Group values in ascending order optimally: with the least sum of squares (Hansen & Mukherjee 2003).

    The persons of all values together are at least k.

    >>> univariate(np.array([1.0, 2.0, 3.0, 7.0, 8.0]), np.ones(5, np.uint32), 2).tolist()
    [0, 0, 0, 1, 1]
    """
    number, native = len(values), library.core()
    values, persons = np.ascontiguousarray(values, np.float64), np.ascontiguousarray(persons, np.uint32)
    begins = np.zeros(number + 1, np.int64)
    if native is None:
        _univariate_numpy(values, persons, k, begins)
    else:
        cost = np.empty(number + 1)
        native.shoal_univariate(address(values), address(persons), number, k, address(cost), address(begins))
    labels, end, cuts = np.zeros(number, np.uint32), number, np.zeros(number + 1, np.int64)
    while end:
        end = int(begins[end])
        cuts[end] = 1
    labels[:] = np.cumsum(cuts[:number]) - 1
    return labels


class _Points(ctypes.Structure):
    _fields_ = (
        ("at", ctypes.c_void_p),
        ("columns", ctypes.c_int64),
        ("room", ctypes.c_int64),
        ("left", ctypes.c_int64),
        ("ids", ctypes.c_void_p),
        ("persons", ctypes.c_void_p),
        ("weight", ctypes.c_uint64),
        ("least", ctypes.c_uint64),
        ("sums", ctypes.c_void_p),
        ("away", ctypes.c_void_p),
        ("near", ctypes.c_void_p),
        ("centre", ctypes.c_void_p),
        ("seed", ctypes.c_void_p),
        ("other", ctypes.c_void_p),
        ("chosen", ctypes.c_void_p),
        ("labels", ctypes.c_void_p),
    )


def _grouped(
    points: Coordinates,
    persons: Persons,
    k: int,
    run: Callable[[ctypes.CDLL, object], object],
    twin: Callable[["_Twin"], object],
) -> Labels:
    """Return the labels of a method: of its C function, or of its numpy implementation."""
    number, columns = points.shape
    labels, sums = np.full(number, NONE, np.uint32), _sums(points, persons)
    native = library.core()
    if native is None:
        twin(_Twin(points, persons, k, sums, labels))
        return labels
    at = np.array(points.T, np.float64, order="C")  # a copy, which the method reorders
    ids, left = np.arange(number, dtype=np.uint32), persons.astype(np.uint32)
    room: list[NDArray[Any]] = [np.empty(number), np.empty(number), *(np.empty(columns) for _ in range(3))]
    room.append(np.empty(k, np.uint32))
    pointers = (address(sums), *(address(array) for array in room), address(labels))
    arrays = address(at), columns, number, number, address(ids), address(left)
    told = _Points(*arrays, int(persons.sum()), k, *pointers)
    run(native, ctypes.byref(told))
    return labels


def _sums(points: Coordinates, persons: Persons) -> Coordinates:
    """Return the weighted sum of the coordinates, added up in the order of the points."""
    weighted = points * persons[:, None].astype(np.float64)
    return np.asarray(np.add.accumulate(weighted, axis=0)[-1]) if len(points) else np.zeros(points.shape[1])


class _Twin:
    """Points without a group, and the methods in numpy. ``ids``: the points left."""

    def __init__(self, points: Coordinates, persons: Persons, k: int, sums: Coordinates, labels: Labels) -> None:
        self.points, self.persons, self.k, self.sums, self.labels = points, persons.astype(np.int64), k, sums, labels
        self.ids = np.arange(len(points))
        self.weight, self.groups = int(self.persons.sum()), 0

    def away(self, place: Coordinates) -> Coordinates:
        """Return the squared distance of each point left, added up column by column."""
        sums = np.zeros(len(self.ids))
        for column, coordinate in enumerate(place):
            apart = self.points[self.ids, column] - coordinate
            sums += apart * apart
        return sums

    def far(self, place: Coordinates) -> Coordinates:
        """Return the coordinates of the point farthest from a place."""
        return np.asarray(self.points[self.ids[int(np.argmax(self.away(place)))]])

    @property
    def centre(self) -> Coordinates:
        """The weighted mean of the points left."""
        return self.sums / float(self.weight)

    def take(self, chosen: NDArray[np.intp]) -> None:
        """Give some of the points left the current label, and remove them."""
        for point in chosen:
            self.sums = self.sums - float(self.persons[point]) * self.points[point]
        self.labels[chosen] = self.groups
        self.weight -= int(self.persons[chosen].sum())
        self.ids = self.ids[~np.isin(self.ids, chosen)]

    def nearest(self, place: Coordinates) -> NDArray[np.intp]:
        """Return the points nearest to a place that have k persons together."""
        order = self.ids[np.argsort(self.away(place), kind="stable")]
        return order[: int(np.searchsorted(np.cumsum(self.persons[order]), self.k)) + 1]

    def form(self, place: Coordinates) -> None:
        """Form the next group of the points nearest to a place."""
        self.take(self.nearest(place))
        self.groups += 1

    def mdav(self) -> None:
        """Group all points by MDAV."""
        while self.weight >= 3 * self.k:
            seed = self.far(self.centre)
            other = self.far(seed)
            self.form(seed)
            self.form(other)
        if self.weight >= 2 * self.k:
            self.form(self.far(self.centre))
        if self.weight >= self.k:
            self.labels[self.ids] = self.groups

    def v_mdav(self, gamma: float) -> None:
        """Group all points by V-MDAV."""
        centre = self.centre
        while self.weight >= self.k:
            chosen = self.nearest(self.far(centre))
            weight = int(self.persons[chosen].sum())
            self.take(chosen)
            near = np.min([self.away(self.points[point]) for point in chosen], axis=0) if len(self.ids) else self.ids
            while len(self.ids) > 1:
                next_ = int(np.argmin(near))
                point = self.ids[next_]
                if weight + int(self.persons[point]) > 2 * self.k - 1:
                    break
                away = self.away(self.points[point])
                if not near[next_] < gamma * gamma * np.delete(away, next_).min():
                    break
                near = np.delete(np.minimum(near, away), next_)
                weight += int(self.persons[point])
                self.take(np.array([point]))
            self.groups += 1

    def k_member(self) -> None:
        """Group all points by k-member."""
        seed = self.centre
        while self.weight >= self.k:
            seed = self.far(seed)
            point = self.ids[int(np.argmin(self.away(seed)))]
            sums, weight = np.zeros(len(seed)), 0.0
            while True:
                added = float(self.persons[point])
                weight += added
                sums = sums + added * self.points[point]
                self.take(np.array([point]))
                if weight >= self.k:
                    break
                heavy = self.persons[self.ids].astype(np.float64)
                increase = self.away(sums / weight) * (heavy * weight / (heavy + weight))
                point = self.ids[int(np.argmin(increase))]
            self.groups += 1


def _univariate_numpy(values: Coordinates, persons: Persons, k: int, begins: NDArray[np.int64]) -> None:
    """Find the optimal groups by dynamic programming, as in the C core."""
    cost = [0.0]
    for end in range(1, len(values) + 1):
        weight = mean = spread = 0.0
        best, start, inside, behind, whole = -1.0, -1, 0, 0, end
        for begin in range(end - 1, -1, -1):
            heavy, apart = float(persons[begin]), float(values[begin]) - mean
            weight += heavy
            mean += apart * (heavy / weight)
            spread += heavy * apart * (float(values[begin]) - mean)
            inside += int(persons[begin])
            if inside < k:
                continue
            if not behind:
                behind, whole = inside, begin
            if cost[begin] >= 0 and (best < 0 or cost[begin] + spread < best):
                best, start = cost[begin] + spread, begin
            if inside - behind >= k and begin < whole:
                break  # such a group could be divided
        cost.append(best)
        begins[end] = start
