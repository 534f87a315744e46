"""The layers of a lattice, which contain the schemes of equal height, and the step to the layer below."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address

Ints = NDArray[np.int64]


class _Layer(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_void_p) for name in ("schemes", "levels", "at_least", "extra"))


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Schemes of equal height in ascending order, with lower bounds for each scheme and all more specific ones.

    ``levels[i, j]``: the level of column j in scheme i. ``at_least``: the minimum number of persons to suppress.
    ``extra[i, j]``: the minimum cost that suppression adds to column j.

    >>> layer, finer = Layer.top([2, 3]).below([2, 3])
    >>> layer.levels.tolist(), finer.tolist()
    ([[0, 2], [1, 1]], [[0, 1]])
    """

    schemes: Ints
    levels: Ints
    at_least: Ints
    extra: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.schemes)

    @classmethod
    def top(cls, shape: Sequence[int]) -> "Layer":
        """Create the layer of the most generalised scheme; ``shape``: the number of levels per column."""
        levels = np.array([shape], np.int64) - 1
        return cls(np.array([prod(shape) - 1]), levels, np.zeros(1, np.int64), np.zeros(levels.shape))

    def only(self, open_: NDArray[np.bool_]) -> "Layer":
        """Keep the open schemes, and thereby discard the others with all schemes below them."""
        if open_.all():
            return self
        return Layer(self.schemes[open_], self.levels[open_], self.at_least[open_], self.extra[open_])

    def below(self, shape: Sequence[int]) -> tuple["Layer", Ints]:
        """Return the schemes one level lower in one column, provided that all schemes directly above them are here.

        Also return, per scheme and column, the place of the scheme one level lower in that column; −1 if there is none.
        """
        strides = np.cumprod([1, *shape[:0:-1]])[::-1]
        native = library.core()
        if native is None:
            return _below_numpy(self, shape, strides)
        most, columns = int(np.count_nonzero(self.levels)), len(shape)
        layer = Layer(
            np.empty(most + 1, np.int64),
            np.empty((most + 1, columns), np.int64),
            np.empty(most + 1, np.int64),
            np.empty((most + 1, columns)),
        )
        finer, sizes, strides = np.empty((len(self), columns), np.int64), np.array(shape), strides.copy()
        here, there = (ctypes.byref(layer._given()) for layer in (self, layer))  # noqa: SLF001 - its own
        lattice = (columns, address(sizes), address(strides))
        number = native.shoal_layer_below(*lattice, len(self), here, there, address(finer))
        return layer._first(number), finer

    def _given(self) -> _Layer:
        return _Layer(*(address(part) for part in (self.schemes, self.levels, self.at_least, self.extra)))

    def _first(self, number: int) -> "Layer":
        return Layer(self.schemes[:number], self.levels[:number], self.at_least[:number], self.extra[:number])


def _below_numpy(layer: Layer, shape: Sequence[int], strides: Ints) -> tuple[Layer, Ints]:
    above, column = np.nonzero(layer.levels)
    schemes, which = np.unique(layer.schemes[above] - strides[column], return_inverse=True)
    levels = np.stack(np.unravel_index(schemes, shape), axis=-1).astype(np.int64)
    whole = np.bincount(which, minlength=len(schemes)) == (levels < np.array(shape) - 1).sum(axis=1)
    place = np.where(whole, np.cumsum(whole) - 1, -1)
    finer = np.full(layer.levels.shape, -1, np.int64)
    finer[above, column] = place[which]
    at_least, extra = np.zeros(len(schemes), np.int64), np.zeros(levels.shape)
    np.maximum.at(at_least, which, layer.at_least[above])
    np.maximum.at(extra, which, layer.extra[above])
    return Layer(schemes, levels, at_least, extra).only(whole), finer
