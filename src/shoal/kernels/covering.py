"""Covering: the rows of value sets that contain given values.

A released row has a set of values in each column: a single value, an interval, or all values. It covers a person whose
values belong to its sets in every column. For each person, the candidates are the rows whose set contains the person's
value in the most selective column.
"""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address
from shoal.kernels.translation import Codes

Ints = NDArray[np.int64]
MOST = 10_000  # rows visited at most in the search for an augmenting path
_CHUNK = 1 << 24  # pairs of persons and rows per block in numpy


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """One column: row r has set ``of_row[r]``; set s contains the values ``codes[starts[s] : starts[s + 1]]``.

    ``values``: the number of possible values.
    """

    of_row: NDArray[np.uint32]
    starts: Ints
    codes: NDArray[np.uint32]
    values: int

    @property
    def number(self) -> int:
        """The number of sets."""
        return len(self.starts) - 1

    def holds(self, codes: Codes) -> NDArray[np.bool_]:
        """Return a matrix of whether each value belongs to each set."""
        which, place = np.unique(codes, return_inverse=True)
        owner = np.repeat(np.arange(self.number), np.diff(self.starts))
        at = np.searchsorted(which, self.codes)
        there = (at < len(which)) & (which[np.minimum(at, len(which) - 1)] == self.codes)
        holds = np.zeros((len(which), self.number), bool)
        holds[at[there], owner[there]] = True
        return np.asarray(holds[place])

    def or_unknown(self) -> "Sets":
        """Add a value that represents unknown values and belongs to every set."""
        codes = np.insert(self.codes, self.starts[1:], self.values).astype(np.uint32)
        return Sets(self.of_row, self.starts + np.arange(len(self.starts)), codes, self.values + 1)


def _lists(keys: NDArray[np.integer[Any]], values: NDArray[np.integer[Any]], number: int) -> tuple[Ints, Any]:
    """Return the values sorted by key: those of key k are ``values[starts[k] : starts[k + 1]]``."""
    order = np.argsort(keys, kind="stable")
    starts = np.searchsorted(keys[order], np.arange(number + 1))
    return np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(values[order], np.uint32)


class _Column(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_void_p) for name in ("of_row", "set_starts", "sets", "row_starts", "rows"))


@dataclass(frozen=True, eq=False)
class Covering:
    """Rows of value sets, weighted by the number of records of each row.

    >>> import numpy as np
    >>> ages = Sets(np.array([0, 1], np.uint32), np.array([0, 2, 3]), np.array([0, 1, 1], np.uint32), 2)
    >>> covering = Covering((ages,), np.array([5, 7]))
    >>> covering.counts([np.array([0, 1], np.uint8)]).tolist()
    [5, 12]
    >>> covering.counts([np.array([0, 1], np.uint8)], np.array([1, 0], np.uint32), 2).tolist()
    [[0, 5], [7, 5]]
    >>> covering.covered([np.array([0, 1, 1], np.uint8)]).tolist()
    [3, 2]
    """

    columns: tuple[Sets, ...]
    weights: Ints

    def counts(
        self, people: Sequence[Codes], values: NDArray[np.uint32] | None = None, number: int = 1
    ) -> NDArray[np.int64]:
        """Count, per person, the records that cover them; ``people[j]``: the values of the persons in column j.

        ``values``: an additional value of each row, below ``number``. If given, records are counted per value.
        """
        self._check(people)
        targets = len(people[0])
        counts_of = np.zeros((targets, number), np.int64)
        value_codes = (
            np.zeros(len(self.weights), np.uint32) if values is None else np.ascontiguousarray(values, np.uint32)
        )
        if targets and len(self.weights):
            native = library.core()
            if native is None:
                self._counted(people, value_codes, counts_of)
            else:
                self._native(native, people, value_codes, counts_of)
        return counts_of[:, 0] if values is None else counts_of

    def covered(self, people: Sequence[Codes]) -> NDArray[np.int64]:
        """Count, per row, the persons whom it covers."""
        self._check(people)
        covered, native = np.zeros(len(self.weights), np.int64), library.core()
        if not len(people[0]) or not len(self.weights):
            return covered
        if native is None:
            for _, covers in self._looked_at(people):
                covered += covers.sum(axis=0)
            return covered
        given, _held = self._given(people)
        native.shoal_covered(*given, address(covered))
        return covered

    def rows(self, people: Sequence[Codes]) -> tuple[Ints, NDArray[np.uint32]]:
        """Return the rows that cover each person.

        Those of person i are ``rows[ends[i - 1] : ends[i]]``, in any order.

        >>> import numpy as np
        >>> ages = Sets(np.array([0, 1], np.uint32), np.array([0, 2, 3]), np.array([0, 1, 1], np.uint32), 2)
        >>> [part.tolist() for part in Covering((ages,), np.array([5, 7])).rows([np.array([0, 1], np.uint8)])]
        [[1, 3], [0, 0, 1]]
        """
        self._check(people)
        number, native = len(people[0]), library.core()
        ends, rows = np.zeros(number, np.int64), np.zeros(0, np.uint32)
        if not number or not len(self.weights):
            return ends, rows
        if native is None:
            parts = [
                (covers.sum(axis=1), np.nonzero(covers)[1].astype(np.uint32)) for _, covers in self._looked_at(people)
            ]
            return np.cumsum(np.concatenate([number for number, _ in parts])), np.concatenate(
                [rows for _, rows in parts]
            )
        given, kept_alive = self._given(people)
        rows, done = np.empty(2 * number + len(self.weights), np.uint32), 0
        while done < number:
            for marks in kept_alive[2]:
                marks[:] = 0
            used = int(ends[done - 1]) if done else 0
            done = native.shoal_covering_rows(*given, done, used, len(rows), address(ends), address(rows))
            if done < number:
                rows = np.concatenate([rows, np.empty(len(rows), np.uint32)])
        return ends, rows[: ends[-1]].copy()

    def best(self, people: Sequence[Codes], ranks: Ints) -> tuple[Ints, Ints]:
        """Return, per person, the highest rank among the rows that cover them, and the number of records of that rank.

        −1 and 0 for persons whom no row covers. ``ranks``: the non-negative rank of each row.

        >>> import numpy as np
        >>> ages = Sets(np.array([0, 1], np.uint32), np.array([0, 2, 3]), np.array([0, 1, 1], np.uint32), 2)
        >>> covering = Covering((ages,), np.array([5, 7]))
        >>> [found.tolist() for found in covering.best([np.array([0, 1], np.uint8)], np.array([3, 4]))]
        [[3, 4], [5, 7]]
        """
        self._check(people)
        best, counts = np.full(len(people[0]), -1, np.int64), np.zeros(len(people[0]), np.int64)
        native = library.core()
        if not len(best) or not len(self.weights):
            return best, counts
        if native is None:
            for part, covers in self._looked_at(people):
                ranked = np.where(covers, ranks, -1)
                best[part] = ranked.max(axis=1)
                counts[part] = (self.weights * (covers & (ranked == best[part][:, None]))).sum(axis=1)
            return best, counts
        given, _held = self._given(people)
        weights, order = (np.ascontiguousarray(part, np.int64) for part in (self.weights, ranks))
        native.shoal_covering_best(*given, *(address(part) for part in (weights, order, best, counts)))
        return best, counts

    def assigned(self, people: Sequence[Codes], ranks: Ints, most: int = MOST) -> Ints:
        """Assign to each person a row that covers them, each row at most once per record; −1 if none is left.

        Persons covered by the fewest records come first and take the row with the highest rank. For each person left
        without a row, an augmenting path over at most ``most`` rows is sought, along which others change their rows
        (Kuhn 1955). If the limit is never reached, the number of assigned persons is maximal.

        >>> import numpy as np
        >>> ages = Sets(np.array([0, 1], np.uint32), np.array([0, 2, 3]), np.array([0, 1, 1], np.uint32), 2)
        >>> Covering((ages,), np.array([1, 1])).assigned([np.array([1, 0, 0], np.uint8)], np.array([1, 0])).tolist()
        [1, 0, -1]
        """
        number, rows, native = len(people[0]), len(self.weights), library.core()
        order = np.argsort(self.counts(people), kind="stable").astype(np.int64)
        left = self.weights.astype(np.int64).copy()
        if not number or not rows:
            return np.full(number, -1, np.int64)
        if native is None:
            return _Assignment(self, people, left, most).of(order, ranks)
        given, _held = self._given(people)
        hands = [left, *(np.full(size, -1, np.int64) for size in (number, rows, number, rows, rows, min(most, rows)))]
        first, again = (np.ascontiguousarray(part, np.int64) for part in (order, ranks))
        pointers = (ctypes.c_void_p * len(hands))(*(address(array) for array in hands))
        native.shoal_assign(*given, rows, address(first), address(again), min(most, rows), pointers)
        return hands[1]

    def _check(self, people: Sequence[Codes]) -> None:
        """Reject codes outside the dictionary, which the C core would look up beyond the ends of its lists."""
        for column, codes in zip(self.columns, people, strict=True):
            if len(codes) and int(codes.max()) >= column.values:
                raise ValueError("a person has a value that the rows do not know")

    @cached_property
    def _indexes(self) -> list[tuple[NDArray[Any], ...]]:
        """Per column: the set of each row, the sets that contain each value, and the rows with each set."""
        indexes: list[tuple[NDArray[Any], ...]] = []
        for column in self.columns:
            owner = np.repeat(np.arange(column.number), np.diff(column.starts))
            of_row = np.ascontiguousarray(column.of_row, np.uint32)
            by_value = _lists(column.codes, owner, column.values)
            indexes.append((of_row, *by_value, *_lists(of_row, np.arange(len(of_row)), column.number)))
        return indexes

    def _given(self, people: Sequence[Codes]) -> tuple[tuple[Any, ...], Any]:
        """Return the first arguments of the C functions, and the buffers that must be kept alive during the call."""
        columns = (_Column * len(self.columns))(
            *(_Column(*(address(part) for part in parts)) for parts in self._indexes)
        )
        codes = [np.ascontiguousarray(codes, np.uint32) for codes in people]
        marks = [np.zeros(column.number, np.uint32) for column in self.columns]
        return (len(columns), ctypes.byref(columns), len(codes[0]), *_at(codes, marks)), (columns, codes, marks)

    def _native(self, native: ctypes.CDLL, people: Sequence[Codes], values: NDArray[np.uint32], numbers: Ints) -> None:
        given, _held = self._given(people)
        weights = np.ascontiguousarray(self.weights, np.int64)
        native.shoal_covering(*given, address(weights), address(values), numbers.shape[1], address(numbers))

    def _counted(self, people: Sequence[Codes], values: NDArray[np.uint32], numbers: Ints) -> None:
        for part, covers in self._looked_at(people):
            target, row = np.nonzero(covers)
            np.add.at(numbers[part], (target, values[row]), self.weights[row])

    def _looked_at(self, people: Sequence[Codes]) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
        """Yield, for one block of persons at a time, a matrix of the rows that cover each person."""
        together = max(_CHUNK // len(self.weights), 1)
        for begin in range(0, len(people[0]), together):
            part = slice(begin, begin + together)
            covers = np.ones((len(people[0][part]), len(self.weights)), bool)
            for column, codes in zip(self.columns, people, strict=True):
                covers &= column.holds(codes[part])[:, column.of_row]
            yield part, covers


def _at(*parts: Sequence[NDArray[np.uint32]]) -> list[Any]:
    """Return arrays of the addresses of arrays."""
    return [(ctypes.c_void_p * len(arrays))(*(address(array) for array in arrays)) for arrays in parts]


@dataclass(frozen=True, slots=True, eq=False)
class _Assignment:
    """Assignment of rows to persons in Python. ``holders[row]``: the persons assigned to a row, the latest first."""

    covering: Covering
    people: Sequence[Codes]
    left: Ints
    most: int
    holders: dict[int, list[int]] = field(default_factory=dict)
    taken: dict[int, int] = field(default_factory=dict)
    dead: set[int] = field(default_factory=set)

    def of(self, order: Ints, ranks: Ints) -> Ints:
        """Assign rows greedily, then along augmenting paths."""
        for person in order.tolist():
            rows = np.sort([row for row in self._rows(person) if self.left[row]]).astype(np.int64)
            if len(rows):
                row = int(rows[ranks[rows].argmax()])
                self.left[row] -= 1
                self._take(person, row)
        for person in order.tolist():
            if person not in self.taken and self.left.any():
                self._free_one(person)
        taken = np.full(len(order), -1, np.int64)
        taken[list(self.taken)] = list(self.taken.values())
        return taken

    def _rows(self, person: int) -> list[int]:
        """Return the rows that cover a person in the order of the C core: by the sets of the most selective column."""
        mine = [codes[[person]] for codes in self.people]
        may = [column.holds(code)[0][column.of_row] for column, code in zip(self.covering.columns, mine, strict=True)]
        first = self.covering.columns[int(np.argmin([np.count_nonzero(possible) for possible in may]))].of_row
        rows = np.flatnonzero(np.logical_and.reduce(may))
        return [int(row) for row in rows[np.argsort(first[rows], kind="stable")]]

    def _take(self, person: int, row: int) -> None:
        if person in self.taken:
            self.holders[self.taken[person]].remove(person)
        self.taken[person] = row
        self.holders.setdefault(row, []).insert(0, person)

    def _free_one(self, person: int) -> None:
        """Search breadth-first, from rows to their holders, for a row that is still available."""
        by: dict[int, int] = {}
        queue: list[int] = []
        waiting, at = [person], 0
        while True:
            for who in waiting:
                for row in self._rows(who):
                    if row in by or row in self.dead:
                        continue
                    by[row] = who
                    if self.left[row]:
                        self._pass_on(person, row, by)
                        return
                    if len(queue) == self.most:
                        return
                    queue.append(row)
            if at == len(queue):  # all reachable rows are taken, and will remain so
                self.dead.update(queue)
                return
            waiting, at = list(self.holders.get(queue[at], [])), at + 1

    def _pass_on(self, person: int, row: int, by: dict[int, int]) -> None:
        """Reassign rows along an augmenting path: each person on it takes the row that the previous one releases."""
        self.left[row] -= 1
        who = -1
        while who != person:
            who = by[row]
            freed = self.taken.get(who, -1)
            self._take(who, row)
            row = freed
