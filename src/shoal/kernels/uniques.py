"""Uniques: the number of unique persons if some columns are known, for all subsets or for columns in a given order.

A person who is unique in some columns is unique in any superset of them and need not be considered again. From few
columns to many, most rows are therefore eliminated early.
"""

import ctypes
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.grouping import group_rows
from shoal.kernels.library import address
from shoal.kernels.subsets import Rows

MOST_ROWS = (1 << 30) - 1


class _Table(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("codes", "holders", "single", "alone", "undo", "tally", "places")),
        ("rows", ctypes.c_int64),
        ("found", ctypes.c_int64),
        ("columns", ctypes.c_int32),
        ("split", ctypes.c_int32),
    )


class Uniques:
    """Counts the persons with a row that no other person has. Each thread needs its own instance.

    >>> import numpy as np
    >>> age, sex = np.array([30, 30, 40, 40], np.uint8), np.array([0, 1, 1, 1], np.uint8)
    >>> uniques = Uniques(Rows.of([age, sex], np.array([1, 1, 1, 1])))
    >>> uniques.of_all().tolist(), uniques.in_order([1, 0]).tolist()
    ([0, 0, 1, 2], [0, 1, 2])
    """

    def __init__(self, rows: Rows) -> None:
        if len(rows) > MOST_ROWS:
            raise ValueError("more rows than can be numbered")
        self.rows = rows

    @cached_property
    def _codes(self) -> list[NDArray[np.uint32]]:
        return [np.ascontiguousarray(codes, np.uint32) for codes in self.rows.columns]

    @cached_property
    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Input arrays and working memory of the C core."""
        rows = self.rows
        holders = len(rows.weights)
        most = max((int(codes.max()) + 1 for codes in self._codes), default=1)
        return {
            "codes": np.array([address(codes) for codes in self._codes], np.uintp),
            "holders": np.ascontiguousarray(rows.holders, np.uint32),
            "single": (rows.weights == 1).astype(np.uint8),
            "alone": np.zeros(holders, np.uint8),
            "undo": np.empty(holders, np.uint32),
            "tally": np.zeros(most, np.uint32),
            "places": np.empty(most, np.uint32),
        }

    @cached_property
    def _table(self) -> _Table:
        pointers = [address(array) for array in self._arrays.values()]
        split = int(len(self.rows) > len(self.rows.weights))
        return _Table(*pointers, len(self.rows), 0, len(self._codes), split)

    def of_all(self) -> NDArray[np.int64]:
        """Count for every subset of the columns, as a bit mask: column j is in subset A if bit j of A is set."""
        native, columns = library.core(), len(self.rows.columns)
        counts = np.zeros(1 << columns, np.int64)
        if not len(self.rows):
            return counts
        if native is None:
            for subset in range(1 << columns):
                counts[subset] = self._alone([j for j in range(columns) if subset >> j & 1])
            return counts
        room = np.empty((columns + 1) * len(self.rows), np.uint32)
        native.shoal_uniques(ctypes.byref(self._table), address(room), address(counts))
        return counts

    def in_order(self, order: Sequence[int]) -> NDArray[np.int64]:
        """Count with no column known, with the first column of the order known, with the first two, and so on."""
        native, counts = library.core(), np.zeros(len(order) + 1, np.int64)
        if not len(self.rows):
            return counts
        if native is None:
            return np.array([self._alone(order[:known]) for known in range(len(order) + 1)], np.int64)
        columns, room = np.array(order, np.int32), np.empty(2 * len(self.rows), np.uint32)
        given = (address(columns), len(order), address(room), address(counts))
        native.shoal_uniques_in_order(ctypes.byref(self._table), *given)
        return counts

    def _alone(self, known: Sequence[int]) -> int:
        """Count the persons with a row that no other person has, given the known columns."""
        rows = self.rows
        codes = [rows.columns[place] for place in known]
        groups = group_rows(codes, [int(column.max()) + 1 for column in codes], len(rows))
        first, last = np.full(len(groups), len(rows.weights)), np.zeros(len(groups), np.int64)
        np.minimum.at(first, groups.ids, rows.holders)
        np.maximum.at(last, groups.ids, rows.holders)
        holders = np.unique(rows.holders[(first == last)[groups.ids]])
        return int((rows.weights[holders] == 1).sum())
