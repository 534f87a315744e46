"""Covering: which rows of sets hold given values.

A released row shows a set of values in each column: one value, an interval, anything. It covers somebody whose value
is in the set in every column. For each person the rows are looked through that may do so in the column that leaves
fewest.
"""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.translation import Codes

Ints = NDArray[np.int64]
_CHUNK = 1 << 24  # pairs of persons and rows that numpy looks at together


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """One column: row r shows set ``of_row[r]``; set s holds the values ``codes[starts[s] : starts[s + 1]]``.

    ``values``: how many different values there can be.
    """

    of_row: NDArray[np.uint32]
    starts: Ints
    codes: NDArray[np.uint32]
    values: int

    @property
    def number(self) -> int:
        """How many sets there are."""
        return len(self.starts) - 1

    def held(self, codes: Codes) -> NDArray[np.bool_]:
        """Tell for each of some values and each set whether it is in it."""
        which, place = np.unique(codes, return_inverse=True)
        owner = np.repeat(np.arange(self.number), np.diff(self.starts))
        at = np.searchsorted(which, self.codes)
        there = (at < len(which)) & (which[np.minimum(at, len(which) - 1)] == self.codes)
        found = np.zeros((len(which), self.number), bool)
        found[at[there], owner[there]] = True
        return np.asarray(found[place])

    def or_unknown(self) -> "Sets":
        """Let one more value stand for whatever is not known: it is in every set."""
        codes = np.insert(self.codes, self.starts[1:], self.values).astype(np.uint32)
        return Sets(self.of_row, self.starts + np.arange(len(self.starts)), codes, self.values + 1)


def _lists(keys: NDArray[np.integer[Any]], values: NDArray[np.integer[Any]], number: int) -> tuple[Ints, Any]:
    """Return the values by key: those of key k are ``values[starts[k] : starts[k + 1]]``."""
    order = np.argsort(keys, kind="stable")
    starts = np.searchsorted(keys[order], np.arange(number + 1))
    return np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(values[order], np.uint32)


class _Column(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_void_p) for name in ("of_row", "set_starts", "sets", "row_starts", "rows"))


@dataclass(frozen=True, eq=False)
class Covering:
    """Rows of sets, and how many records each stands for.

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
        """Count for each person the records that cover them; ``people[j]``: their values in column j.

        ``values``: what each row says besides, below ``number``: then records are counted for each of these.
        """
        targets = len(people[0])
        found = np.zeros((targets, number), np.int64)
        said = np.zeros(len(self.weights), np.uint32) if values is None else np.ascontiguousarray(values, np.uint32)
        if targets and len(self.weights):
            native = library.core()
            if native is None:
                self._counted(people, said, found)
            else:
                self._native(native, people, said, found)
        return found[:, 0] if values is None else found

    def covered(self, people: Sequence[Codes]) -> NDArray[np.int64]:
        """Count for each row the people whom it covers."""
        found, native = np.zeros(len(self.weights), np.int64), library.core()
        if not len(people[0]) or not len(self.weights):
            return found
        if native is None:
            for _, covers in self._looked_at(people):
                found += covers.sum(axis=0)
            return found
        columns, codes, marks = self._given(people)
        native.shoal_covered(
            len(self.columns), ctypes.byref(columns), len(people[0]), *_at(codes, marks), found.ctypes.data
        )
        return found

    def assigned(self, people: Sequence[Codes]) -> NDArray[np.int64]:
        """Give each person a row that covers them, and each row to as many people as it has records; −1: none is left.

        Those whom fewest records cover come first.

        >>> import numpy as np
        >>> ages = Sets(np.array([0, 1], np.uint32), np.array([0, 2, 3]), np.array([0, 1, 1], np.uint32), 2)
        >>> Covering((ages,), np.array([1, 1])).assigned([np.array([1, 0, 0], np.uint8)]).tolist()
        [1, 0, -1]
        """
        order = np.argsort(self.counts(people), kind="stable")
        left, taken, native = (
            self.weights.astype(np.int64).copy(),
            np.full(len(people[0]), -1, np.int64),
            library.core(),
        )
        if not len(people[0]) or not len(self.weights):
            return taken
        if native is None:
            for person in order.tolist():
                covers = np.concatenate([one for _, one in self._looked_at([codes[[person]] for codes in people])])[0]
                rows = np.flatnonzero(covers & (left > 0))
                if len(rows):
                    left[rows[0]] -= 1
                    taken[person] = rows[0]
            return taken
        columns, codes, marks = self._given(people)
        given = (len(self.columns), ctypes.byref(columns), len(people[0]), *_at(codes, marks))
        native.shoal_assign(*given, order.ctypes.data, left.ctypes.data, taken.ctypes.data)
        return taken

    @cached_property
    def _indexes(self) -> list[tuple[NDArray[Any], ...]]:
        """For each column: the set of each row, the sets with each value, the rows with each set."""
        found: list[tuple[NDArray[Any], ...]] = []
        for held in self.columns:
            owner = np.repeat(np.arange(held.number), np.diff(held.starts))
            of_row = np.ascontiguousarray(held.of_row, np.uint32)
            by_value = _lists(held.codes, owner, held.values)
            found.append((of_row, *by_value, *_lists(of_row, np.arange(len(of_row)), held.number)))
        return found

    def _given(self, people: Sequence[Codes]) -> tuple[Any, list[NDArray[np.uint32]], list[NDArray[np.uint32]]]:
        """Return what the core is told, and room to mark sets in."""
        columns = (_Column * len(self.columns))(
            *(_Column(*(part.ctypes.data for part in parts)) for parts in self._indexes)
        )
        codes = [np.ascontiguousarray(held, np.uint32) for held in people]
        return columns, codes, [np.zeros(held.number, np.uint32) for held in self.columns]

    def _native(self, native: ctypes.CDLL, people: Sequence[Codes], said: NDArray[np.uint32], found: Ints) -> None:
        columns, codes, marks = self._given(people)
        weights = np.ascontiguousarray(self.weights, np.int64)
        pointers = (weights.ctypes.data, said.ctypes.data, found.shape[1], found.ctypes.data)
        native.shoal_covering(len(self.columns), ctypes.byref(columns), len(found), *_at(codes, marks), *pointers)

    def _counted(self, people: Sequence[Codes], said: NDArray[np.uint32], found: Ints) -> None:
        for part, covers in self._looked_at(people):
            target, row = np.nonzero(covers)
            np.add.at(found[part], (target, said[row]), self.weights[row])

    def _looked_at(self, people: Sequence[Codes]) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
        """Yield for some people at a time which rows cover them."""
        together = max(_CHUNK // len(self.weights), 1)
        for begin in range(0, len(people[0]), together):
            part = slice(begin, begin + together)
            covers = np.ones((len(people[0][part]), len(self.weights)), bool)
            for held, codes in zip(self.columns, people, strict=True):
                covers &= held.held(codes[part])[:, held.of_row]
            yield part, covers


def _at(*parts: Sequence[NDArray[np.uint32]]) -> list[Any]:
    """Return where arrays are, and keep these addresses as long as they are used."""
    return [(ctypes.c_void_p * len(held))(*(one.ctypes.data for one in held)) for held in parts]
