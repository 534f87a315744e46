"""Disclosure control of published counts: suppression of counts of persons that are small, or reveal a small count."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

_MOST_TIERS = 3  # maximum number of tiers that are suppressed before all counts are
_MOST_LISTINGS = 200  # maximum number of attempts to find another listing with the same picture
USUAL = 11  # minimum number of persons behind a published count, if no k is required


def hides(number: int, least: int) -> bool:
    """Return whether a number of persons must be suppressed; 0 may be published.

    >>> hides(3, 11), hides(0, 11), hides(11, 11)
    (True, False, False)
    """
    return 0 < number < least


def hidden(counts: Sequence[int] | NDArray[np.integer], least: int) -> NDArray[np.bool_]:
    """Return a mask of the counts of persons that are suppressed in a list whose sum is public.

    Counts below ``least`` are suppressed (primary suppression); zeros are shown. Then the smallest of the other counts
    are suppressed, equal ones together (complementary suppression), until the suppressed persons are at least ``least``
    in total and a small count has at least two possible values for a reader who knows the sum and this rule. If three
    such steps do not achieve that, all counts but zeros are suppressed.

    >>> hidden([50, 3, 20, 0], 11).tolist()
    [False, True, True, False]
    >>> hidden([20, 5, 4, 4], 5).tolist()  # two counts below 5 with a sum of 8 can only be 4 and 4
    [False, True, True, True]
    """
    cells = np.asarray(counts, np.int64)
    mask = np.asarray((cells > 0) & (cells < least))
    if mask.any():
        tiers = np.unique(cells[cells >= least])
        large = tuple(np.sort(cells[cells >= least]).tolist())
        listing = _Listing(int(mask.sum()), int(cells[mask].sum()), large, least)
        tried = range(min(len(tiers), _MOST_TIERS + 1))
        more = next((more for more in tried if listing.is_unclear(more)), len(tiers))
        mask |= np.isin(cells, tiers[:more])
    return mask


@dataclass(frozen=True, slots=True)
class _Listing:
    """Unordered counts of persons: ``small`` counts below ``least`` with a ``total``, and the large ones, ascending.

    A tier is a set of equal large counts. Suppressing the small counts and the lowest tiers leaves a picture: the
    number of suppressed counts, their sum, and the counts that are shown.
    """

    small: int
    total: int
    large: tuple[int, ...]
    least: int

    def is_unclear(self, tiers: int) -> bool:
        """Return whether a small count has two possible values if this many tiers are suppressed.

        The reader of the picture considers every listing with the same picture for which suppressing fewer tiers is not
        enough. After a limited number of attempts to find such a listing, the picture counts as clear.
        """
        shown = self._shown(tiers)
        number = len(self.large) - len(shown)
        cells, persons = self.small + number, self.total + sum(self.large[:number])
        if persons < self.least:
            return False
        if cells < persons < cells * (self.least - 1) and cells > 1:
            return True  # all suppressed counts may be small, with two possible values each
        values: set[int] = set()
        for other in islice(self._alternatives(tiers, persons, shown), _MOST_LISTINGS):
            if other is not None and not any(other.is_unclear(fewer) for fewer in range(tiers)):
                values.update(other.extremes())
            if len(values) > 1:
                return True
        return False

    def extremes(self) -> tuple[int, int]:
        """Return the lowest and the highest possible value of a small count."""
        others = self.small - 1
        return max(1, self.total - others * (self.least - 1)), min(self.least - 1, self.total - others)

    def _shown(self, tiers: int) -> tuple[int, ...]:
        """Return the large counts above the lowest tiers."""
        highest = [0, *sorted(set(self.large))][tiers]
        return tuple(count for count in self.large if count > highest)

    def _alternatives(self, tiers: int, persons: int, shown: tuple[int, ...]) -> Iterator["_Listing | None"]:
        """Yield the listings with the same picture and as many small counts and tiers; None for a failed attempt."""
        number, most = len(self.large) - len(shown), shown[0] - 1 if shown else persons
        for total in range(self.small, min(self.small * (self.least - 1), persons - number * self.least) + 1):
            for large in _tiered(number, persons - total, (self.least, most), tiers):
                yield None if large is None else _Listing(self.small, total, (*large, *shown), self.least)


def _tiered(number: int, total: int, between: tuple[int, int], tiers: int) -> Iterator[tuple[int, ...] | None]:
    """Yield ascending counts between two bounds with a given sum and ``tiers`` distinct values; None if there are none.

    >>> list(_tiered(3, 8, (2, 9), 2))
    [(2, 3, 3), (2, 2, 4)]
    """
    low, high = between
    if tiers <= 1:
        count = total // number if number else 0
        fits = total == number * count and (low <= count <= high if tiers else not number)
        yield (count,) * number if fits else None
        return
    for times in range(1, number - tiers + 2):
        for count in range(low, min(high, total // number) + 1):
            for rest in _tiered(number - times, total - times * count, (count + 1, high), tiers - 1):
                yield None if rest is None else (*[count] * times, *rest)
