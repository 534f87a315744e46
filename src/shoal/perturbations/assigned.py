"""Assigned values: the new value of each draw, found by the draw's random word."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes
from shoal.perturbations.column_values import Draws

_BITS = 20  # of a word, which number its bucket


def _buckets(words: Words) -> NDArray[np.int64]:
    """Return the number of the bucket of each word: its first bits."""
    return (words >> np.uint64(64 - _BITS)).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """Assignment of the code ``codes[i]`` to the draw with the word ``words[i]``.

    ``words`` are ascending. Records of no draw, such as counterfeits, keep their code.
    """

    words: Words
    codes: Codes
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, draws: Draws, codes: Codes) -> "Assigned":
        """Assign a code to each draw.

        >>> draws = Draws(np.array([5, 1 << 63], np.uint64), {})
        >>> assigned = Assigned.of(draws, np.array([2, 1], np.uint8))
        >>> assigned(np.array([0, 0, 0], np.uint8), np.array([1 << 63, 5, 7], np.uint64)).tolist()
        [1, 2, 0]
        """
        sizes = np.bincount(_buckets(draws.words), minlength=1 << _BITS)
        return cls(draws.words, codes, np.cumsum(sizes) - sizes)

    def __call__(self, codes: Codes, words: Words) -> Codes:
        """Return the code assigned to the draw of each word."""
        if not len(self.words):
            return codes
        places = self._places(words)
        there = self.words[places] == words
        return np.where(there, self.codes[places], codes).astype(self.codes.dtype)

    def _places(self, words: Words) -> NDArray[np.int64]:
        """Return the first place whose word is not smaller than each of some words, or the last place.

        Words are spread evenly, so a few steps from the start of a bucket suffice: faster than a binary search, which
        jumps through the whole array.
        """
        places = np.minimum(self.starts[_buckets(words)], len(self.words) - 1)
        smaller = np.flatnonzero(self.words[places] < words)
        while len(smaller):
            smaller = smaller[places[smaller] < len(self.words) - 1]
            places[smaller] += 1
            smaller = smaller[self.words[places[smaller]] < words[smaller]]
        return places
