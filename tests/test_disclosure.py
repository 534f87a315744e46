"""Suppression of small counts: whoever knows the rule and the sum cannot work a suppressed count out."""

from collections import defaultdict
from itertools import product

import pytest

from shoal.disclosure import hidden
from tests.effort import tiered


def picture(counts, least):
    """Return what a reader sees: None for counts that are suppressed."""
    return tuple(None if hide else count for count, hide in zip(counts, hidden(counts, least), strict=True))


@pytest.mark.parametrize(("cells", "most", "least"), tiered([(3, 12, 3), (3, 14, 4), (4, 9, 3), (4, 8, 4)], quick=2))
def test_no_list_can_be_worked_out(cells, most, least):
    """All lists with the same picture and sum: every suppressed cell has two values, and so have the small counts."""
    readers = defaultdict(list)
    for counts in product(range(most + 1), repeat=cells):
        readers[sum(counts), picture(counts, least)].append(counts)
    judged = 0
    for (total, shown), lists in readers.items():
        places = [place for place, count in enumerate(shown) if count is None]
        if not places or not any(shown):  # everything is shown, or nothing is: there is no more to suppress
            continue
        assert all(len({counts[place] for counts in lists}) > 1 for place in places)
        assert len({counts[place] for counts in lists for place in places if counts[place] < least}) > 1
        assert total - sum(count or 0 for count in shown) >= least
        judged += 1
    assert judged > 100


@pytest.mark.parametrize(
    ("counts", "least", "expected"),
    [
        ((20, 5, 4, 4), 5, (20, None, None, None)),  # 4 and 4 have the highest sum of two counts below 5
        ((1000, 12, 12, 10), 11, (1000, None, None, None)),  # of two equal counts, one would tell the other
        ((50, 3, 20, 0), 11, (50, None, None, 0)),
        ((50, 60, 70), 11, (50, 60, 70)),
        ((3, 500), 11, (None, None)),
        ((1,) * 200 + (40, 50, 60), 11, (None,) * 201 + (50, 60)),
        ((10,) * 300 + (11,) * 300 + (12, 13) * 30, 11, (None,) * 660),
    ],
)
def test_lists(counts, least, expected):
    assert picture(counts, least) == expected


def test_the_order_does_not_matter():
    """Otherwise it would tell which of two equal counts was suppressed."""
    for counts in product((0, 2, 3, 5, 6, 6), repeat=4):
        told = dict(zip(counts, picture(counts, 5), strict=True))
        assert picture(sorted(counts), 5) == tuple(told[count] for count in sorted(counts))
