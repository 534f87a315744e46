"""Random partners: pairs within a window, the same from the core and from numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import library
from shoal.kernels.partners import partners


@given(st.integers(1, 400), st.floats(0, 1), st.integers(0, 1 << 32))
def test_pairs_within_the_window(number, share, seed):
    words = np.random.default_rng(seed).integers(0, 1 << 63, number, dtype=np.uint64)
    window, found = int(share * (number - 1)), []
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            found.append(partners(words, window))
    assert found[0].tolist() == found[1].tolist()
    pairs = found[0]
    assert pairs[pairs].tolist() == list(range(number))
    assert np.abs(pairs - np.arange(number)).max() <= window
    alone = np.flatnonzero(pairs == np.arange(number))
    assert (np.diff(alone) > window).all()  # no two that could be paired are left


def test_an_impossible_window_is_refused():
    for words, window in ((np.zeros(3, np.uint64), -1), (np.zeros(3), 1)):
        with pytest.raises(TypeError):
            partners(words, window)
