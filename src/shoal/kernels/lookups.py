"""Lookups: sums of table entries over columns, for all pairs of items and rows."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address

Near = NDArray[np.float32]


def summed(
    tables: Sequence[Near], lines: Sequence[NDArray[np.integer[Any]]], nodes: Sequence[NDArray[np.uint32]]
) -> Near:
    """Return, for item i and row r, the sum over all columns j of ``tables[j][lines[j][i], nodes[j][r]]``.

    >>> import numpy as np
    >>> apart = np.array([[0, 1], [1, 0]], np.float32)
    >>> summed([apart], [np.array([1])], [np.array([0, 1, 1], np.uint32)]).tolist()
    [[1.0, 0.0, 0.0]]
    """
    number, rows, native = len(lines[0]), len(nodes[0]), library.core()
    if native is None:
        distances: Near = tables[0][lines[0]][:, nodes[0]]
        for table, line, node in zip(tables[1:], lines[1:], nodes[1:], strict=True):
            distances += table[line][:, node]
        return distances
    given, _held = _given(tables, lines, nodes)
    sums = np.empty((number, rows), np.float32)
    native.shoal_lookups(*given, address(sums))
    return sums


def nearest(
    tables: Sequence[Near],
    lines: Sequence[NDArray[np.integer[Any]]],
    nodes: Sequence[NDArray[np.uint32]],
    close: float,
) -> tuple[Near, NDArray[np.int64], NDArray[np.uint32]]:
    """Return, per item, the smallest of the sums of :func:`summed`, and the rows that exceed it by at most ``close``.

    Those of item i are ``rows[ends[i - 1] : ends[i]]``; there must be at least one row.

    >>> import numpy as np
    >>> apart = np.array([[0, 1], [1, 0]], np.float32)
    >>> [part.tolist() for part in nearest([apart], [np.array([1])], [np.array([0, 1, 1], np.uint32)], 0)]
    [[0.0], [2], [1, 2]]
    """
    number, rows, native = len(lines[0]), len(nodes[0]), library.core()
    if native is None:
        sums = summed(tables, lines, nodes)
        least = sums.min(axis=1)
        thing, row = np.nonzero(sums <= (least + np.float32(close))[:, None])
        return least, np.cumsum(np.bincount(thing, minlength=number)), row.astype(np.uint32)
    given, _held = _given(tables, lines, nodes)
    sums, least, ends = np.empty(rows, np.float32), np.empty(number, np.float32), np.zeros(number, np.int64)
    near, done, used = np.empty(4 * rows + number, np.uint32), 0, 0
    while done < number:
        state = (close, done, used, len(near), *(address(part) for part in (sums, least, ends, near)))
        done = native.shoal_nearest(*given, *state)
        used = int(ends[done - 1]) if done else 0
        if done < number:
            near = np.concatenate([near, np.empty(len(near), np.uint32)])
    return least, ends, near[:used].copy()


def _given(
    tables: Sequence[Near], lines: Sequence[NDArray[np.integer[Any]]], nodes: Sequence[NDArray[np.uint32]]
) -> tuple[tuple[Any, ...], Any]:
    """Return the first arguments of the C functions, and the buffers that must be kept alive during the call."""
    flat = [np.ascontiguousarray(table, np.float32) for table in tables]
    which = [np.ascontiguousarray(line, np.uint32) for line in lines]
    shown = [np.ascontiguousarray(node, np.uint32) for node in nodes]
    widths = np.array([table.shape[1] for table in flat], np.int64)
    pointers = [(ctypes.c_void_p * len(parts))(*(address(array) for array in parts)) for parts in (flat, which, shown)]
    given = (len(flat), pointers[0], address(widths), pointers[1], pointers[2], len(which[0]), len(shown[0]))
    return given, (flat, which, shown, widths, pointers)
