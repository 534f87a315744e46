"""Lookups: sums over columns of what tables say, for all pairs of some things and rows."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library

Near = NDArray[np.float32]


def summed(
    tables: Sequence[Near], lines: Sequence[NDArray[np.integer[Any]]], nodes: Sequence[NDArray[np.uint32]]
) -> Near:
    """Return for thing i and row r the sum over all columns j of ``tables[j][lines[j][i], nodes[j][r]]``.

    >>> import numpy as np
    >>> apart = np.array([[0, 1], [1, 0]], np.float32)
    >>> summed([apart], [np.array([1])], [np.array([0, 1, 1], np.uint32)]).tolist()
    [[1.0, 0.0, 0.0]]
    """
    number, rows, native = len(lines[0]), len(nodes[0]), library.core()
    if native is None:
        found: Near = tables[0][lines[0]][:, nodes[0]]
        for table, line, node in zip(tables[1:], lines[1:], nodes[1:], strict=True):
            found += table[line][:, node]
        return found
    held = [np.ascontiguousarray(table, np.float32) for table in tables]
    which = [np.ascontiguousarray(line, np.uint32) for line in lines]
    shown = [np.ascontiguousarray(node, np.uint32) for node in nodes]
    widths = np.array([table.shape[1] for table in held], np.int64)
    sums = np.empty((number, rows), np.float32)
    pointers = [(ctypes.c_void_p * len(parts))(*(one.ctypes.data for one in parts)) for parts in (held, which, shown)]
    given = (len(held), pointers[0], widths.ctypes.data, pointers[1], pointers[2], number, rows)
    native.shoal_lookups(*given, sums.ctypes.data)
    return sums
